package a

import "os"

func opens(names []string) error {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close() // want `defer in a loop`
	}
	return nil
}

func opensOne(names []string) error {
	for _, name := range names {
		err := func() error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func opensFirst(names []string) *os.File {
	for _, name := range names {
		if f, err := os.Open(name); err == nil {
			defer f.Sync()
			return f
		}
	}
	return nil
}
