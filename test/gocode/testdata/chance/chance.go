// Package chance has a benchmark that is out of luck in some processes.
package chance
