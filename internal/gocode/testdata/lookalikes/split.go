package lookalikes

import "strings"

func countsParts(text string) (sum int) {
	for i, part := range strings.Split(text, ",") { // refuse: strings.Split
		sum += i * len(part)
	}
	return sum
}

func onlyNumbers(text string) (sum int) {
	for i := range strings.Split(text, ",") { // refuse: strings.Split
		sum += i
	}
	return sum
}

func limited(text string) (sum int) {
	for _, part := range strings.SplitN(text, ",", 3) { // refuse: strings.SplitN
		sum += len(part)
	}
	return sum
}

func secondMayBeMissing(text string) string {
	return strings.Split(text, ",")[1] // refuse: strings.Split
}

func intoLetters(text string) string {
	return strings.Split(text, "")[0] // refuse: strings.Split
}

func anySeparator(text, separator string) string {
	return strings.Split(text, separator)[0] // refuse: strings.Split
}

func wholeWithOnePart(text string) string {
	return strings.SplitN(text, ",", 1)[0] // refuse: strings.SplitN
}

func panicsWithNone(text string) string {
	return strings.SplitN(text, ",", 0)[0] // refuse: strings.SplitN
}

func panicsWithoutWords(text string) string {
	return strings.Fields(text)[0] // refuse: strings.Fields
}

func inCondition(text string) (turns int) {
	for strings.Split(text, ",")[0] != "" { // refuse: strings.Split
		text = text[1:]
		turns++
	}
	return turns
}

func changesBefore(text string) bool {
	if text = text + "x"; strings.Split(text, ",")[0] == "x" { // refuse: strings.Split
		return true
	}
	return false
}

func inElse(text string) string {
	if text == "" {
		return ""
	} else if first := text; strings.Split(first, ",")[0] == "x" { // refuse: strings.Split
		return first
	}
	return "y"
}

func ofCase(text string) string {
	switch text {
	case strings.Split(text, ",")[0]: // refuse: strings.Split
		return "one"
	}
	return ""
}

func unguarded(pair string) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	return parts[0] + parts[1]
}

func guardedTooLate(pair string) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	value := parts[1]
	if len(parts) != 2 {
		return ""
	}
	return value
}

func guardGoesOn(pair string) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	if len(parts) != 2 {
		global++
	}
	return parts[1]
}

func guardOfOther(pair string, other []string) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	if len(other) != 2 {
		return ""
	}
	return parts[1]
}

func moreThanTwo(pair string) string {
	parts := strings.Split(pair, "=") // refuse: strings.Split
	if len(parts) > 1 {
		return parts[1]
	}
	return ""
}

func atLeastTwo(pair string) string {
	parts := strings.Split(pair, "=") // refuse: strings.Split
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func threeParts(pair string) string {
	parts := strings.SplitN(pair, "=", 3) // refuse: strings.SplitN
	if len(parts) == 2 {
		return parts[1]
	}
	return ""
}

func keepsParts(pair string) []string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	if len(parts) == 2 {
		return parts
	}
	return nil
}

func changesPart(pair string) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	parts[0] = "x"
	return parts[0]
}

func pointsToPart(pair string) *string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	return &parts[0]
}

func eitherGuard(pair string, really bool) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	if len(parts) == 2 || really {
		return parts[1]
	}
	return ""
}

func jumpsOver(pair string) string {
	parts := strings.SplitN(pair, "=", 2) // refuse: strings.SplitN
	if pair == "x" {
		goto value
	}
	if len(parts) != 2 {
		return ""
	}
value:
	return parts[1]
}

type own struct{}

func (own) Split(text, separator string) []string { return nil }

func otherSplit(text string) (n int) {
	strings := own{}
	for range strings.Split(text, ",") { // refuse: strings.Split
		n++
	}
	return n
}

func restTwice(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	for range 2 {
		for _, part := range parts[1:] {
			n += len(part)
		}
	}
	return n
}

func restLater(list string) func() int {
	parts := strings.Split(list, ",") // refuse: strings.Split
	return func() (n int) {
		for _, part := range parts[1:] {
			n += len(part)
		}
		return n
	}
}

func restAndSecond(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	for _, part := range parts[1:] {
		n += len(part)
	}
	return n + len(parts[1])
}

func restCounted(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	for i, part := range parts[1:] {
		n += i * len(part)
	}
	return n
}

func restFromSecond(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	for _, part := range parts[2:] {
		n += len(part)
	}
	return n
}

func restUpTo(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	for _, part := range parts[1:1] {
		n += len(part)
	}
	return n
}

func restOfTwoLoops(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	for _, part := range parts[1:] {
		n += len(part)
	}
	for _, part := range parts[1:] {
		n -= len(part)
	}
	return n
}

func firstChanged(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	parts[0] = "x"
	for _, part := range parts[1:] {
		n += len(part)
	}
	return n + len(parts[0])
}

func restAppended(list string) (n int) {
	parts := strings.Split(list, ",") // refuse: strings.Split
	parts = append(parts, "x")
	for _, part := range parts[1:] {
		n += len(part)
	}
	return n
}
