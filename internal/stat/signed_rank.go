package stat

import "math"

// rejected returns the largest sum of signed ranks that so many rounds reach
// or stay below by chance at that rate, -1 where none is so rare.
func rejected(rounds int, rate float64) int {
	const exactly = 200
	if rounds > exactly {
		return rejectedAbout(float64(rounds), rate)
	}
	below := 0.0
	for sum, probability := range signedRanks(rounds) {
		if below += probability; below > rate {
			return sum - 1
		}
	}
	return -1
}

// signedRanks returns the probability of each sum of those of the ranks 1 to
// n that a fair coin chooses.
func signedRanks(n int) []float64 {
	probabilities := make([]float64, n*(n+1)/2+1)
	probabilities[0] = 1
	for rank, top := 1, 0; rank <= n; rank++ {
		top += rank
		for sum := top; sum >= 0; sum-- {
			half := probabilities[sum] / 2
			if sum >= rank {
				half += probabilities[sum-rank] / 2
			}
			probabilities[sum] = half
		}
	}
	return probabilities
}

// rejectedAbout is by the normal distribution, which the sum follows when
// there are many.
func rejectedAbout(n, rate float64) int {
	mean, deviation := n*(n+1)/4, math.Sqrt(n*(n+1)*(2*n+1)/24)
	z := math.Sqrt2 * math.Erfinv(1-2*rate)
	return int(math.Floor(mean - z*deviation - 1))
}
