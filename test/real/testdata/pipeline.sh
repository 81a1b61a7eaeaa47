# A pipeline of shell functions, subshells and programs.
double() { while read -r n; do echo $((n * 2)); done; }
seq 1 3000 | double | sort -r | awk '{ s += $1 } END { print s, NR }'
for word in a b c d e f g h; do
  text=$(printf '%s\n' "$word" "$word$word" | tr a-z A-Z)
  echo "${text//$'\n'/ }"
done | sort | uniq -c
declare -A count
while read -r line; do count[${line:0:2}]=$((${count[${line:0:2}]:-0} + 1)); done < <(seq 10 2 4000)
for key in "${!count[@]}"; do echo "$key ${count[$key]}"; done | sort -n | tail -3
exit 4
