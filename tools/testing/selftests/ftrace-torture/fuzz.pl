#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# fuzz.pl: random and half-right words for every file of function tracing, from several processes.
#
#	fuzz.pl SEED SECONDS WORKERS [MODULE...]
#
# It is run in tracefs. First a tour writes to each file a word that must be taken, and reads it. Then WORKERS
# processes open files of the top and of instances, write, read, seek, duplicate descriptors and fork with them, and
# close them, in any order; one more makes and removes instances and modules (a name for modprobe or a path for
# insmod). At the end each file gets back its content. The same seed makes the same choices; when they are made
# depends on the machine.
#
# A process that is at one thing for STUCK seconds is a finding: the kernel is asked for all stacks, and this ends.
# Before that a possible hog goes: a latency tracer reports each stretch longer than tracing_thresh, with a stack and
# under a lock, and may do nothing else if that is a few microseconds.
#
# Prints a line "ok - ..." or "not ok - ..." for each result; exit 1 where something is not ok, 3 where a process is stuck.
use strict;
use warnings;
use Fcntl qw(:DEFAULT :flock :seek);
use POSIX ();

use constant {
	STUCK => 240, SLOW => 30,	# seconds at one thing: the end; until it is asked for less
	LAST => 12,			# things that a worker remembers
	FILES => 6, CHILDREN => 3,	# of a worker
	TOGETHER => 4, INSTANCES => 3,
	OFTEN => 9,			# of the targets, the first ones
	SYS_PREAD => 17, SYS_PWRITE => 18,
};
my ($seed, $seconds, $workers, @modules) = @ARGV;
my $dir = '/tmp/fuzz';
my (@names, @options, %option_was, $failures, $me, $steps, @last, $last_file, $end);

sub result {
	my ($ok, $text) = @_;
	print $ok ? 'ok' : 'not ok', " - $text\n";
	$failures++ if !$ok;
}

# Chance
sub rnd { int rand $_[0] }
sub one_in { !rnd($_[0]) }
sub pick { $_[rnd(scalar @_)] }

# The words of each kind of file, most of them right or nearly so
sub name { one_in(40) ? 'no_such_function' : $names[rnd(scalar @names)] }
sub number {
	return rnd(one_in(4) ? 100000 : 400) if !one_in(3);
	pick(qw(0 1 2 -1 +1 01 0x10 4294967295 4294967296 99999999 18446744073709551616 1e3), '', ' ', '1 2');
}
# A name of which some is left out. Few functions match most of them: many take their time.
sub glob_word {
	my $s = name();
	my $len = length $s;
	my $at = rnd($len);
	my ($head, $tail, $rest) = (substr($s, 0, $at), substr($s, $at), substr($s, $at + 1));
	my ($from, $to) = map { chr(ord('a') + rnd(26)) } 1, 2;
	return pick(substr($s, 0, $len - rnd($len / 2 + 1)) . '*', '*' . substr($s, rnd($len / 2 + 1)),
		'*' . substr($s, rnd(2), $len - 1) . '*', "$head*$tail", "$head?$rest", "${head}[$from-$to]$rest", $s,
		one_in(3) ? pick('*', 'vfs_*', '*lock*', '*_read', 'k*', '[a-f]*', 'ksys_*', '***', '?*?') : $s);
}
sub module_word {
	return pick('*', '', 'never', '!', '*d*', 'ext4', '%') if !@modules || one_in(3);
	# In the kernel a name has no hyphen.
	return pick(@modules) =~ s,.*/,,r =~ s/\..*//r =~ tr/-/_/r;
}
# A command that prints the whole trace to the console is for a function without callers; a stack each time is for one
# function, and few times, and a snapshot each time for one function: otherwise the machine does nothing else.
sub command_word {
	return name() . ':stacktrace:' . rnd(4) if one_in(6);
	return 'gen_fn_000002:' . pick('dump', 'cpudump') if one_in(8);
	my $text = one_in(10) ? name() . ':snapshot' : glob_word() . ':' . pick(qw(traceon traceoff
		enable_event:sched:sched_switch disable_event:sched:sched_switch enable_event: no_such_command trace
		traceoff: mod), '');
	return $text . (one_in(2) ? ':' . number() : '');
}
sub filter_word {
	my $what = rnd(8);
	return (one_in(4) ? '!' : '') . ($what == 0 ? number() : $what == 1 ? command_word() :
		$what == 2 ? glob_word() . ':mod:' . module_word() : $what == 3 ? name() : glob_word());
}
sub several {	# MOST SELDOM-MOST WORD
	my ($most, $seldom, $word) = @_;
	return join '', map { $word->() . (one_in(4) ? "\n" : ' ') } 0 .. rnd(one_in(10) ? $seldom : $most);
}
sub filters {
	return join '', map { filter_word() . pick(' ', ' ', ' ', "\n", "\t", "\n\n", '') }
		0 .. rnd(one_in(10) ? 200 : 4);
}
sub pids { several(3, 60, sub { (one_in(10) ? '!' : '') . (one_in(3) ? $$ : number()) }) }
# fuzz.sh makes some of them.
sub cgroups {
	several(3, 60, sub { one_in(4) ? number() :
		pick(qw(/ /fz0 /fz0/b /fz1 //fz2/ /fz3/cgroup.procs /no_such fz0 /fz0/.. 1)) });
}
sub move { one_in(2) ? 0 : getppid }	# 0 is the writer itself
sub numbers { number() . (one_in(2) ? "\n" : '') }
sub percent { rnd(one_in(8) ? 200 : 100) }
sub switch { pick('0', '1', "0\n", "1\n", '1', '0', '2', '-1', 'y', '', "\n", '00', '1 ') }
sub option { (one_in(2) ? 'no' : '') . pick(@options) }
sub clock { pick(qw(local global counter uptime perf mono mono_raw boot tai x86-tsc locals), '') }
sub size { one_in(8) ? rnd(1000) : 4 << rnd(6) }	# of buffers, which are to stay small
sub tracer {
	pick(qw(function function_graph nop function function_graph count nop irqsoff preemptirqsoff wakeup wakeup_rt
		func functions), 'function ', '', ' nop', "nop\n\n", "\n");
}
sub probe {
	my $e = 'fz/e' . rnd(8);
	return one_in(3) ? "-:$e" : pick(qw(p p r r f f f r3 t x), '') . ":$e " . name() . pick(('') x 8, '%return',
		'%return', '+0', '+4', ' $stack0', ' $retval', ' a=$comm:string', ' $arg1', '-1', ' %ax');
}
sub probes { join '', map { probe() . (one_in(8) ? ';' : "\n") } 0 .. rnd(3) }
sub no_words { one_in(2) ? '' : "\n" }

# Makes a right word wrong: a byte more, less or other, half of it, very much of it, or nothing.
sub spoil {
	my ($s) = @_;
	my ($at, $what) = (rnd(length($s) || 1), rnd(7));
	if ($what == 0) { substr($s, $at, 1) = chr rnd(256) }
	elsif ($what == 1) { $s = substr($s, 0, $at) }
	elsif ($what == 2) { $s .= 'abc_*!: ' x (12 + rnd(1500)) }
	elsif ($what == 3) { $s .= join '', map { chr rnd(256) } 0 .. rnd(300) }
	elsif ($what == 4) { $s = substr($s, $at) }
	elsif ($what == 5) { $s = '' }
	else { $s x= 1 + rnd(20) }
	return substr($s, 0, 12000);
}

# The files: path, with %u one of eight or so; words, none for one that is only read; a word that is taken; what undoes
# it, or else the text read first; i: in instances, too; w: reads show the kernel's own code, too, fewer of them
my @targets = (
	['current_tracer', \&tracer, 'function', 'nop', 'i'],
	(map { ["set_ftrace_$_", \&filters, 'vfs_read', '', 'i'] } qw(filter notrace)),
	(map { ["set_graph_$_", \&filters, 'vfs_read', ''] } qw(function notrace)),
	(map { ["set_ftrace_$_", \&pids, '1', '', 'i'] } qw(pid notrace_pid)),
	['set_ftrace_cgroup', \&cgroups, '/', '', 'i'],
	['set_ftrace_notrace_cgroup', \&cgroups, '1', '', 'i'],
	['/tmp/cgroup/fz%u/cgroup.procs', \&move],
	['/tmp/cgroup/cgroup.procs', \&move],
	['dynamic_events', \&probes, 'p:fz/tour vfs_read', ''],
	['events/fz/e%u/enable', \&switch],	# made by the one above, so it is not always there
	['stack_trace_filter', \&filters, 'vfs_read', ''],
	['stack_max_size', \&numbers, '0', '0'],
	['/proc/sys/kernel/stack_tracer_enabled', \&switch, '0', '0'],
	['/proc/sys/kernel/ftrace_enabled', \&switch, '1', '1'],
	['function_profile_enabled', \&switch, '1', '0'],
	['trace_stat/function%u'],
	['max_graph_depth', \&numbers, '3'],
	['tracing_thresh', \&numbers, '0'],
	['tracing_on', \&switch, '1', '1', 'i'],
	['trace', \&no_words, '', '', 'iw'],
	(map { [$_, \&no_words, '0', '0', 'i'] } qw(function_counts function_latency)),
	['max_rate', \&numbers, '1000000', '0', 'i'],
	['max_overhead', \&percent, '0', '0', 'i'],
	['throttled', \&no_words, "\n", '', 'i'],
	['overhead_costs', \&no_words, "event 100000\n", "event 100000\n"],
	['trace_options', \&option, 'noannotate', 'annotate', 'i'],
	['trace_clock', \&clock, 'global', 'local', 'i'],
	['buffer_size_kb', \&size, '64', '64', 'i'],
	['per_cpu/cpu%u/buffer_size_kb', \&size, undef, undef, 'i'],
	['buffer_subbuf_size_kb', \&size, '4', '4', 'i'],
	['buffer_percent', \&percent, '50', undef, 'i'],
	['saved_cmdlines_size', \&numbers, '128', '128'],
	['tracing_cpumask', \&size, '3', undef, 'i'],
	['snapshot', \&numbers, '0', '0', 'iw'],
	['trace_pipe', undef, undef, undef, 'iw'],
	['per_cpu/cpu%u/trace_pipe_raw', undef, undef, undef, 'iw'],
	(map { ["options/$_", \&switch, '1', undef, 'i'] } qw(func-no-repeats function-fork)),
	(map { ["options/$_", \&switch, '1'] } qw(count-sorted count-cpus count-callers count-times count-latency
		function-trace display-graph funcgraph-overrun funcgraph-tail funcgraph-proc funcgraph-retval)),
	(map { ["options/$_", \&switch, '0'] } qw(sleep-time graph-time funcgraph-irqs)),
	(map { [$_] } qw(callsets enabled_functions touched_functions available_filter_functions
		available_filter_functions_addrs dyn_ftrace_total_info stack_trace)),
	['error_log', \&no_words, '', '', 'i'],
	['kprobe_events', \&probes, 'r:fz/tour vfs_read', ''],
);
@targets = map { my %t; @t{qw(path words plain off flags)} = @$_; $t{flags} //= ''; \%t } @targets;

# Tells the next step, so that one can see where a process is stuck: the time of the file is when it began.
sub at {
	my ($text) = @_;
	return if !defined $me;
	push @last, substr($text =~ tr/ -~/./cr, 0, 95);
	shift @last if @last > LAST;
	$steps++;
	my $all = pack 'A1200', join "\n", "$steps steps", @last;
	syscall(SYS_PWRITE, fileno $last_file, $all, length $all, 0);
}
sub put {
	my ($path, $text, $flags) = @_;
	defined(my $fd = POSIX::open($path, O_WRONLY | ($flags // 0))) or return;
	my $ok = $text eq '' || (POSIX::write($fd, $text, length $text) // -1) == length $text;
	return POSIX::close($fd) && $ok;
}
sub get {	# the first line of what one read gives; a pipe has nothing
	my ($path) = @_;
	defined(my $fd = POSIX::open($path, O_RDONLY | O_NONBLOCK)) or return;
	my $n = POSIX::read($fd, my $text, 63);
	$n = '0 but true' if !defined $n && $!{EAGAIN};
	POSIX::close($fd);
	return defined $n ? ($n > 0 ? substr($text, 0, $n) : '') =~ s/\n.*//sr : undef;
}

# A worker's open files, as [descriptor, target]; and those that it opens once, first of all
my (@files, @children, @due);
sub any_target { shift @due // (one_in(2) ? $targets[rnd(OFTEN)] : pick(@targets)) }
sub step_open {
	my $top = @due;
	my $t = any_target();
	my $path = sprintf $t->{path}, rnd(8);
	$path = 'instances/f' . rnd(INSTANCES) . "/$path" if !$top && $t->{flags} =~ /i/ && one_in(2);
	my $mode = $t->{words} ? pick(O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND, O_RDWR, O_RDWR | O_TRUNC, O_WRONLY,
		O_RDONLY, O_RDONLY, O_RDWR | O_APPEND, O_WRONLY | O_TRUNC | O_APPEND, O_WRONLY | O_CREAT,
		O_RDONLY | O_TRUNC) : O_RDONLY;
	at("open $path $mode");
	defined(my $fd = POSIX::open($path, $mode | O_NONBLOCK, 0600)) or return;
	$t->{opened}++;
	push @files, [$fd, $t];
}
sub step_close {
	my ($i) = @_;
	at("close $files[$i][1]{path}");
	POSIX::close($files[$i][0]);
	splice @files, $i, 1;
}
sub write_parts {
	my ($fd, $t, $words) = @_;
	do {
		my $part = substr($words, 0, one_in(3) ? 1 + rnd(length($words) + 1) : length $words);
		at("write $t->{path} '" . substr($part, 0, 50) . "'");
		my $n = one_in(6) ? syscall(SYS_PWRITE, $fd, $part, length $part, rnd(10000)) :
			POSIX::write($fd, $part, length $part) // -1;
		if ($n < 0) {
			$t->{refused}++ if !$!{EBADF};
			return;
		}
		$t->{taken}++;
		return if $n == 0 || one_in(5);
		$words = substr($words, $n);
	} while ($words ne '');
}
# Half of the time the same is written once more: a setting must not be made twice.
sub step_write {
	my ($fd, $t) = @_;
	my $words = $t->{words} ? $t->{words}->() : return;
	$words = spoil($words) if one_in(6);
	write_parts($fd, $t, "$words") for 0 .. rnd(2);
}
sub step_read {
	my ($fd, $t) = @_;
	my ($left, $until, $buf) = ($t->{flags} =~ /w/ ? 8192 : 1 + rnd(1 << 16), time + 2, "\0" x 4200);
	at("read $t->{path}");
	while ($left > 0 && time < $until) {
		my $size = 1 + rnd(4200);
		my $n = one_in(10) ? syscall(SYS_PREAD, $fd, $buf, $size, rnd(100000)) : POSIX::read($fd, $buf, $size);
		last if ($n // 0) <= 0;
		$buf = "\0" x 4200;
		$t->{reads}++;
		$left -= $n;
	}
}
sub step_seek {
	my ($fd, $t) = @_;
	at("seek $t->{path}");
	POSIX::lseek($fd, rnd(1 << 20) - (one_in(4) ? 1 << 19 : 0), pick(SEEK_SET, SEEK_CUR, SEEK_END));
	POSIX::lseek($fd, rnd(1 << 20) << 40, SEEK_SET) if one_in(20);
}
# The child has the parent's files, and no others that are told apart.
sub step_fork {
	my $chance = rnd(1 << 30);
	at('fork');
	defined(my $pid = fork) or return;
	return push @children, $pid if $pid;
	($me, @due) = ();
	@children = (0) x CHILDREN;
	srand $chance;
	open_turn();
	for (my $n = rnd(12); $n && time < $end; $n--) { step() }
	POSIX::_exit(0);
}
sub reap {
	my ($all) = @_;
	@children = grep {
		at("wait for child $_") if $all;
		waitpid($_, $all ? 0 : POSIX::WNOHANG) != $_;
	} @children;
}

# All steps are taken under a lock, shared. One that is to be alone closes the gate before: who waits there has no turn.
my ($gate, $turn);
sub open_turn {
	open $gate, '<', "$dir/gate" or die;
	open $turn, '<', "$dir/turn" or die;
}
sub begin_turn {
	my ($how) = @_;
	flock $gate, LOCK_EX;
	flock $turn, $how;
	flock $gate, LOCK_UN;
}
sub step {
	begin_turn(LOCK_SH);
	my ($i, $what) = (rnd(scalar(@files) || 1), rnd(16));
	my @f = @files ? @{$files[$i]} : ();
	if (!@f || $what < 3 && @files < FILES) { step_open() }
	elsif ($what < 8) { step_write(@f) }
	elsif ($what < 10) { step_read(@f) }
	elsif ($what == 10) { step_seek(@f) }
	elsif ($what == 11 && @files < FILES) { push @files, [POSIX::dup($f[0]) // -1, $f[1]] }
	elsif ($what == 12 && @children < CHILDREN && one_in(4)) { step_fork() }
	else { step_close($i) }
	flock $turn, LOCK_UN;
}
# A stack for each function is too much if all are traced, and the option is all instances' at a time: no other process
# has a turn meanwhile.
sub stacks {
	at('wait for the others');
	begin_turn(LOCK_EX);
	at('stacks');
	put("instances/f$_/current_tracer", 'nop') for 0 .. INSTANCES - 1;
	put('current_tracer', 'nop');
	put('set_ftrace_filter', name() . ' vfs_read', O_TRUNC);
	put('options/func_stack_trace', '1');
	put('current_tracer', 'function');
	put('/proc/self/comm', 'fuzz') for 1 .. 20;
	select undef, undef, undef, 0.02;
	put('options/func-no-repeats', rnd(2));
	put('options/func_stack_trace', '0');
	put('current_tracer', 'nop') if one_in(2);
	flock $turn, LOCK_UN;
}
sub work {
	@due = map { $targets[$_] } grep { $_ % $workers == $me } 0 .. $#targets;
	while (time < $end) {
		stacks() if !$me && one_in(400);
		step();
		reap(0);
	}
	step_close(0) while @files;
	reap(1);
	while (@due) {
		step_open();
		step_close(0) if @files;
	}
	open my $f, '>', "$dir/stat.$me" or die;
	print $f join(' ', $_, map { $_ // 0 } @{$targets[$_]}{qw(opened taken refused reads)}), "\n" for 0 .. $#targets;
}

# Instances and modules
my ($instances, $loads) = (0, 0);
sub run {
	at("@_");
	return !system "@_ >/dev/null 2>&1";
}
sub unload {
	my $name = $_[0] =~ s,.*/,,r =~ s/\..*//r;
	my $patch = '/sys/kernel/livepatch/livepatch_sample';
	# A live patch can only go when no task is in it, so no longer than this.
	put("$patch/enabled", '0');
	for (my $i = 0; $i < 100 && -e $patch; $i++) { select undef, undef, undef, 0.02 }
	run("rmmod $name");
}
sub step_module {
	my $m = pick(@modules);
	if (one_in(3)) {
		unload($m);
	} elsif (run($m =~ m,^/, ? 'insmod' : 'modprobe', $m)) {
		$loads++;
		unload($m) if one_in(2);
	}
}
sub step_instance {
	my $i = 'instances/f' . rnd(INSTANCES);
	at("rmdir $i");
	return if one_in(2) && rmdir $i;
	at("mkdir $i");
	mkdir $i, 0700 or return;
	$instances++;
	put("$i/buffer_size_kb", '64');
	# If all functions are traced most of the time, little else happens.
	put("$i/set_ftrace_filter", 'vfs_*');
}
sub make_and_remove {
	while (time < $end) {
		step_module() if @modules && one_in(2);
		step_instance();
		at('sleep');
		select undef, undef, undef, rand 0.1;
	}
	unload($_) for @modules;
	open my $f, '>', "$dir/made" or die;
	print $f "$instances $loads";
}

# The tour, and the way back
sub off { my ($t) = @_; $t->{off} // $t->{before} }
sub tour {
	my $there = 0;
	for my $t (@targets) {
		my ($path, $off) = sprintf $t->{path}, 0;
		if (!-e $path) {
			$t->{missing} = 1;
			print "# this kernel has no $path\n" if $t->{path} !~ /%/;
			next;
		}
		$there++;
		$t->{before} = get($path) // result(0, "$path cannot be read: $!");
		for my $word (defined $t->{plain} ? ([$t->{plain}, 0], [off($t), O_TRUNC]) : ()) {
			put($path, @$word) or result(0, "$path does not take '$word->[0]': $!");
		}
	}
	result($there > 15 && !$failures, "$there files take a plain word and can be read");
}
# write() to one open file is one at a time; pwrite() is not, nor are writes of io_uring.
sub write_together {
	my ($path) = @_;
	my $fd = POSIX::open($path, O_WRONLY | O_TRUNC);
	my ($until, $bad) = (time + 1, 0);
	for my $i (1 .. TOGETHER) {
		next if fork;
		srand $i;
		for (my $n = 2000; $n && time <= $until; $n--) {
			my $s = pick('vfs_read ', '!vfs_read ', 'vfs_wri', 'te ', 'ksys_* ', 'no_such_function ', '!ksys_read ',
				'vfs_*:mod:never ');
			syscall(SYS_PWRITE, $fd, $s, length $s, 0);
		}
		POSIX::_exit(0);
	}
	while (wait > 0) { $bad++ if $? }
	result(!$bad && POSIX::close($fd), TOGETHER . " write to one open $path");
	put($path, '', O_TRUNC);
}
# As each file was; probes before the files that make them, and every kind of command.
sub restore {
	my ($dir) = @_;
	for my $c (qw(traceon traceoff snapshot stacktrace dump cpudump enable_event:sched:sched_switch
			disable_event:sched:sched_switch)) {
		put("${dir}set_ftrace_filter", "!*:$c$_", O_APPEND) for '', ':1';
	}
	put("${dir}events/enable", '0');
	for my $t (@targets) {
		next if !$t->{words} || $t->{missing} || $t->{path} =~ /%/ || $dir && $t->{flags} !~ /i/;
		my $path = ($t->{path} =~ m,^/, ? '' : $dir) . $t->{path};
		put($path, off($t), O_TRUNC) or $dir or result(0, "$path ends with '" . off($t) . "': $!");
	}
}
sub restore_all {
	put("options/$_", $option_was{$_}) for @options;
	for my $i (grep { -d } map { "instances/f$_" } 0 .. INSTANCES - 1) {
		restore("$i/");
		result(rmdir $i, "$i can be removed at the end");
	}
	restore('');
}

# Watching
my %running;	# number by process
sub said { my ($who) = @_; open my $f, '<', "$dir/last.$who" or return; map { s/\s+$//r } <$f> }
sub age { my ($who) = @_; time - ((stat "$dir/last.$who")[9] // time) }
sub show_last {
	for my $pid (sort keys %running) {
		my ($count, @steps) = said($running{$pid});
		print "# worker $running{$pid}, pid $pid, $count, at the last for ", age($running{$pid}), " s\n";
		print "#    $_\n" for @steps;
	}
}
# Whether the kernel has found fault with itself: KASAN or a bad page, an oops, a warning.
sub faults { (get('/proc/sys/kernel/tainted') // 0) & (1 << 5 | 1 << 7 | 1 << 9) }
sub give_up {
	result(0, 'nobody is stuck');
	show_last();
	print "# stuck; the kernel is asked for the stacks of all tasks\n";
	put('/proc/sys/kernel/printk', '8');
	put('/proc/sysrq-trigger', $_) for qw(l w t);
	sleep 5;
	# A task that is stuck cannot be waited for.
	POSIX::_exit(3);
}
# By a child: the write may have to wait for a slow task.
my $asked = 0;
sub ask_for_less {
	return if time - $asked < SLOW;
	$asked = time;
	print "# slow: no thresholds any more\n";
	return if fork;
	open STDOUT, '>', '/dev/null';
	put('tracing_thresh', '0');
	POSIX::_exit(0);
}
sub watch {
	my $shown;
	while (%running) {
		my $pid = waitpid -1, POSIX::WNOHANG;
		if ($pid > 0) {
			delete $running{$pid};
			result(0, "process $pid ended with status $?") if $?;
			next;
		}
		my ($longest) = sort { $b <=> $a } map { age($_) } values %running;
		give_up() if $longest > STUCK;
		ask_for_less() if $longest > SLOW;
		if (!$shown && faults()) {
			$shown = 1;
			result(0, 'the kernel has nothing to complain of');
			show_last();
		}
		select undef, undef, undef, 0.2;
	}
	result(1, 'nobody is stuck');
}
sub start {
	$end = time + $seconds;
	for my $who (0 .. $workers) {
		my $pid = fork;
		if (!$pid) {
			# Whoever reads the results does not wait for one that is stuck.
			open STDOUT, '>', '/dev/null';
			$me = $who;
			srand $seed * 100 + $who;
			open_turn();
			open $last_file, '>', "$dir/last.$me" or die;
			$who == $workers ? make_and_remove() : work();
			POSIX::_exit(0);
		}
		$running{$pid} = $who;
	}
	watch();
}
sub report {
	my ($idle, @sum) = 0;
	for my $path (glob "$dir/stat.*") {
		open my $f, '<', $path or die;
		while (<$f>) {
			my ($i, @n) = split;
			$sum[$i][$_] += $n[$_] for 0 .. $#n;
		}
	}
	for my $i (0 .. $#targets) {
		next if $targets[$i]{missing} && $targets[$i]{path} !~ /%/;
		printf "# %-38s opened %6u, writes taken %6u, refused %6u, reads %6u\n", $targets[$i]{path}, @{$sum[$i]};
		$idle++ if $targets[$i]{path} !~ /%/ && !$sum[$i][0];
	}
	open my $f, '<', "$dir/made" or die;
	my ($made, $loaded) = split ' ', <$f>;
	print "# $made instances made, $loaded modules loaded\n";
	result(!$idle, "every file was opened ($idle were not)");
	result($made, 'instances were made');
	result($loaded || !@modules, 'modules were loaded');
}

$| = 1;
mkdir $dir;
for my $lock ('gate', 'turn') { open my $f, '>', "$dir/$lock" or die }
open my $f, '<', 'available_filter_functions' or die;
@names = map { /(\S+)/ } <$f>;
my $every = int(@names / 4096) + 1;
@names = @names[grep { $_ % $every == 0 } 0 .. $#names];
# But for those that cost a stack with each function.
@options = grep { !/stack|dest/ } map { s,.*/,,r } glob 'options/*';
$option_was{$_} = get("options/$_") for @options;
result(@names > 100, 'there are functions to name (' . @names . ')');
tour();
write_together($_) for 'set_ftrace_filter', 'set_graph_function';
put('set_ftrace_filter', 'vfs_*', O_TRUNC);
start();
restore_all();
report();
exit !!$failures;
