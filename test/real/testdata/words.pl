# Appends to 5,000 hash entries, sorts, joins, matches and forks once.
use strict;
use warnings;

my %lines;
my $seed = 12345;
for my $i (1 .. 150_000) {
    $seed = ($seed * 1103515245 + 12345) % 2147483648;
    $lines{ 'key' . ($seed % 5000) } .= "word$i ";
}
my $longest = 0;
for my $key (sort keys %lines) {
    my @words = split / /, $lines{$key};
    $longest = @words if @words > $longest;
    $lines{$key} =~ s/word(\d+)/<$1>/g;
}
$| = 1;
print scalar(keys %lines), " keys, $longest words\n";
my $child = fork();
if (!$child) {
    print length(join '', map { $lines{$_} } sort keys %lines), " bytes in the child\n";
    exit 3;
}
waitpid($child, 0);
print "child ended with ", $? >> 8, "\n";
