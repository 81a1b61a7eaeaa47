package rewrites

import "errors"

// ConstantError wants text.
func ConstantError(text string) (int, error) {
	if text == "" {
		return 0, errors.New("the text is empty, and that is too bad") // rewrite: errors.New
	}
	return len(text), nil
}
