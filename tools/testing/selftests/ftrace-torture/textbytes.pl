#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# textbytes.pl: reads kernel text through /proc/kcore, for the demonstration and the checks that look at the bytes of a
# call site.
#
#	textbytes.pl show ADDRESS...     five bytes at each address, and their meaning: a CALL with its destination
#	textbytes.pl sum                 standard input names one site a line, its address (hexadecimal) first, as
#	                              available_filter_functions_addrs does: prints how many hold a NOP, a CALL, a
#	                              breakpoint, or anything else, and a checksum of address and bytes
#	textbytes.pl list                the same input: each site that is not a NOP
#	textbytes.pl save FILE           copies the core kernel's text
#	textbytes.pl diff FILE           where the text differs from that copy: the first 40 places, and how many bytes
#	textbytes.pl pokes FILE COMMAND...
#
# The last one runs COMMAND and collects perf's events text_poke and ksymbol of all CPUs meanwhile; those of the core
# kernel are applied to the copy of its text in FILE, in the order of their times, as a decoder of an instruction
# trace does. It prints one line, and ends with COMMAND's status:
#
#	pokes=N calls=N       events of the core kernel; those that leave a CALL
#	wrong=N descents=N    those whose old bytes are not those of the text; how often the next address was a lower one
#	elsewhere=N erased=N  events of other text, modules and trampolines; those of them that leave nothing there
#	made=N gone=N lost=N  trampolines of ftrace's that got a symbol, and lost it; events for which there was no room
use strict;
use warnings;
no warnings 'portable';

use constant { SITE => 5, PAGE => 4096, PAGES => 1024 };
my @kinds = qw(NOP CALL JMP breakpoint other);

open my $kcore, '<:raw', '/proc/kcore' or die "textbytes: /proc/kcore: $!\n";
sub read_at {
	my ($at, $len, $text) = (@_, '');
	sysseek $kcore, $at, 0 or return;
	while (length $text < $len) {
		sysread $kcore, $text, $len - length $text, length $text or return;
	}
	return $text;
}
# ELF's program headers of type LOAD, as [offset, address, length]
my ($at, $size, $count) = unpack 'x32 Q x14 S S', read_at(0, 64);
my @segments = map { [@$_[1 .. 3]] } grep { $_->[0] == 1 }
	map { [unpack 'L x4 Q Q x16 Q', read_at($at + $_ * $size, 56)] } 0 .. $count - 1;
sub text_at {
	my ($at, $len) = @_;
	for (@segments) {
		my ($offset, $start, $size) = @$_;
		next if $at < $start || $at - $start + $len > $size;
		my $text = read_at($offset + ($at - $start), $len);
		return $text if defined $text;
	}
	return;
}
sub kind_of {
	my ($b) = @_;
	return $b eq "\x0f\x1f\x44\0\0" ? 'NOP' :
		{ 0xe8 => 'CALL', 0xe9 => 'JMP', 0xcc => 'breakpoint' }->{ord $b} // 'other';
}
sub hex_of { join ' ', map { sprintf '%02x', $_ } unpack 'C*', $_[0] }

# The nearest symbol at or below an address. The addresses of /proc/kallsyms are of one length.
sub symbol {
	my ($at) = @_;
	my ($want, $best, $name) = (sprintf('%016x', $at), '0' x 16, '?');
	open my $f, '<', '/proc/kallsyms' or return '?';
	while (<$f>) {
		my $a = substr $_, 0, 16;
		next if $a gt $want || $a lt $best || substr($_, 17, 1) !~ /[tTwW]/;
		($best, $name) = ($a, substr($_, 19) =~ s/\s.*//sr);
	}
	my $off = $at - hex $best;
	return $off == 0 ? $name : $off < 1 << 20 ? sprintf('%s+0x%x', $name, $off) : 'no symbol';
}
sub address {
	my ($name) = @_;
	open my $f, '<', '/proc/kallsyms' or die;
	while (<$f>) {
		return hex $1 if /^(\w+) . $name$/;
	}
	die "textbytes: there is no $name\n";
}

sub show {
	for my $at (map { hex } @_) {
		my $b = text_at($at, SITE) // die sprintf("%016x: cannot be read\n", $at);
		my $kind = kind_of($b);
		printf '%016x: %s  %s', $at, hex_of($b), $kind;
		my $to = $at + SITE + unpack 'x l', $b;
		printf ' %x %s', $to, symbol($to) if $kind eq 'CALL' || $kind eq 'JMP';
		print "\n";
	}
}
sub each_site {
	my ($list) = @_;
	my (%count, $all);
	while (<STDIN>) {
		my ($at) = map { hex } /^(\w+)/;
		my $b = text_at($at, SITE);
		if (!defined $b) {
			$count{unread}++;
			next;
		}
		my $kind = kind_of($b);
		$count{$kind}++;
		$all .= pack 'Q a5', $at, $b;
		print s/\n//r, ': ', hex_of($b), " $kind\n" if $list && $kind ne 'NOP';
	}
	return if $list;
	my $file = "/tmp/textbytes.$$";
	open my $f, '>:raw', $file or die;
	print $f $all // '';
	close $f;
	print map({ "$_=" . ($count{$_} // 0) . ' ' } @kinds, 'unread'), 'sum=', substr(`md5sum $file`, 0, 16), "\n";
	unlink $file;
}

my ($start, $len);
sub whole_text {
	$start = address('_stext');
	$len = address('_etext') - $start;
	return text_at($start, $len) // die "textbytes: the kernel's text cannot be read\n";
}
sub saved {
	my ($path) = @_;
	open my $f, '<:raw', $path or die "textbytes: $path: $!\n";
	local $/;
	return <$f>;
}
sub save {
	my ($path, $text) = @_;
	open my $f, '>:raw', $path or die "textbytes: $path: $!\n";
	print $f $text;
	close $f or die "textbytes: $path: $!\n";
}
sub diff {
	my ($path) = @_;
	my ($text, $old, $places, $last) = (whole_text(), saved($path), 0);
	die "textbytes: $path is no copy of the text\n" if length $old != $len;
	my $changes = $text ^ $old;
	while ($changes =~ /[^\0]/g) {
		my $i = $-[0];
		# One line for an instruction.
		my $same = defined $last && $i - $last < SITE;
		$last = $i;
		next if $same || ++$places > 40;
		printf "%016x was %s is %s %s\n", $start + $i, map({ hex_of(substr $_, $i, 1) } $old, $text), symbol($start + $i);
	}
	my $bytes = $changes =~ tr/\0//c;
	print "$bytes bytes differ\n";
	exit !!$bytes;
}

# A ring of perf's for a CPU: a dummy, with the flags of sample_id_all, use_clockid (of CLOCK_MONOTONIC), ksymbol and
# text_poke, and the time with each record.
sub ring_open {
	my ($cpu) = @_;
	my $attr = pack 'L L Q x8 Q x8 Q x44 l x32', 1, 128, 9, 4, 1 << 18 | 1 << 25 | 1 << 29 | 1 << 33, 1;
	my $fd = syscall 298, $attr, -1, $cpu, -1, 8;
	die "textbytes: perf_event_open: $!\n" if $fd < 0;
	my $ring = syscall 9, 0, (PAGES + 1) * PAGE, 3, 1, $fd, 0;
	die "textbytes: mmap: $!\n" if $ring == -1;
	return $ring;
}
# The ring holds all that there is: nothing was consumed, so nothing wraps. As [time, type, what follows the header]
sub ring_read {
	my ($ring) = @_;
	my ($head, $offset) = unpack 'x1024 Q x8 Q', unpack 'P1048', pack 'Q', $ring;
	my ($data, @records) = $head ? unpack "P$head", pack 'Q', $ring + $offset : '';
	for (my $at = 0; $at < $head;) {
		my ($type, $size) = unpack 'L x2 S', substr $data, $at, 8;
		push @records, [unpack('Q', substr $data, $at + $size - 8, 8), $type, substr $data, $at + 8, $size - 16];
		$at += $size;
	}
	return @records;
}
sub pokes {
	my ($path, @command) = @_;
	my $text = saved($path);
	my $start = address('_stext');
	my @rings = map { ring_open($_) } 0 .. `nproc` - 1;
	my $status = system @command;
	my ($last, %n) = 0;
	for (sort { $a->[0] <=> $b->[0] } map { ring_read($_) } @rings) {
		my (undef, $type, $r) = @$_;
		$n{lost}++ if $type == 2;
		if ($type == 17) {
			my ($flags, $name) = unpack 'x14 S Z*', $r;
			$n{$flags & 1 ? 'gone' : 'made'}++ if $name =~ /ftrace_trampoline/;
		}
		next if $type != 20;
		my ($addr, $old_len, $new_len) = unpack 'Q S S', $r;
		my ($old, $new) = (substr($r, 12, $old_len), substr($r, 12 + $old_len, $new_len));
		if ($addr < $start || $addr - $start + $new_len > length $text) {
			$n{elsewhere}++;
			$n{erased}++ if $old_len && !$new_len;
			next;
		}
		$n{pokes}++;
		$n{calls}++ if $new =~ /^\xe8.{4}$/s;
		$n{descents}++ if $addr < $last;
		$last = $addr;
		if ($old_len != $new_len || substr($text, $addr - $start, $old_len) ne $old) {
			printf STDERR "textbytes: first wrong one: %x, %d bytes\n", $addr, $old_len if !$n{wrong}++;
		}
		substr($text, $addr - $start, $new_len) = $new;
	}
	save($path, $text);
	print join(' ', map { "$_=" . ($n{$_} // 0) } qw(pokes calls wrong descents elsewhere erased made gone lost)), "\n";
	exit($status >> 8 || !!$status);
}

my ($do, @words) = @ARGV;
my %actions = (show => \&show, sum => sub { each_site(0) }, list => sub { each_site(1) },
	save => sub { save($words[0], whole_text()) }, diff => \&diff, pokes => \&pokes);
die "usage: textbytes show ADDRESS... | sum | list | save FILE | diff FILE | pokes FILE COMMAND...\n"
	if !$actions{$do // ''};
$actions{$do}->(@words);
