// Exits makes a known number of allocations and then ends as it is told.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

type node struct{ next *node }

var list *node

//go:noinline
func build(n int) {
	for range n {
		list = &node{list} // the line
	}
}

// branch makes objects by as many call stacks as it has leaves.
func branch(depth int) {
	switch depth {
	case 0:
		list = &node{list} // by many stacks
	default:
		branch(depth - 1)
		branch(depth - 1)
	}
}

func main() {
	log.SetFlags(0)
	build(1000)
	fmt.Println("built", len(os.Args))
	switch os.Args[1] {
	case "return":
	case "exit":
		os.Exit(3)
	case "fatal":
		log.Fatal("fatal")
	case "panic":
		panic("on purpose")
	case "panic-elsewhere":
		go func() { panic("on purpose") }()
		select {}
	case "nil":
		var none *node
		list = none.next
	case "deadlock":
		<-make(chan int)
	case "goexit":
		runtime.Goexit()
	case "maps":
		m := map[int]int{}
		for range 4 {
			go func() {
				for i := 0; ; i++ {
					m[i%8]++
				}
			}()
		}
		time.Sleep(time.Minute)
	case "interrupt", "terminate", "kill":
		signal := map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM, "kill": syscall.SIGKILL}[os.Args[1]]
		syscall.Kill(os.Getpid(), signal)
		time.Sleep(time.Minute) // the thread that the kernel gives it to may not run yet; no deadlock meanwhile
	case "raw-exit":
		syscall.Exit(4)
	case "execute":
		syscall.Exec("/bin/true", []string{"true"}, nil)
	case "again":
		c := exec.Command(os.Args[0], "return")
		c.Stdout = os.Stdout
		if err := c.Run(); err != nil {
			log.Fatal(err)
		}
	case "stacks":
		branch(14)
	case "threads":
		var done sync.WaitGroup
		for range 8 {
			done.Go(func() {
				var kept []*node
				for range 10_000 {
					kept = append(kept[:0], new(node)) // in eight goroutines
				}
				runtime.KeepAlive(kept)
			})
		}
		done.Wait()
	}
}
