// The experiments about processes and messages in Go: goroutines and channels.
//
//	talk oneway MESSAGES
//	talk pingpong ROUNDS
//	talk ring GOROUTINES MESSAGES
//	talk waiting GOROUTINES
//
// What is printed has the form that the Erlang programs print.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

// inbox is how many messages wait in a channel before its sender does.
const inbox = 1024

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: talk oneway|pingpong|ring|waiting COUNT [MESSAGES]")
	}
	count := number(os.Args[2])
	switch os.Args[1] {
	case "oneway":
		oneway(count)
	case "pingpong":
		pingpong(count)
	case "ring":
		if len(os.Args) < 4 {
			log.Fatal("usage: talk ring GOROUTINES MESSAGES")
		}
		ring(count, number(os.Args[3]))
	case "waiting":
		waiting(count)
	default:
		log.Fatalf("no experiment named %s", os.Args[1])
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		log.Fatalf("not a positive number: %s", text)
	}
	return n
}

// oneway sends as fast as the receiver takes.
func oneway(count int) {
	messages := make(chan int, inbox)
	taken := make(chan int)
	go func() {
		n := 0
		for range messages {
			n++
		}
		taken <- n
	}()
	start := time.Now()
	for i := 0; i < count; i++ {
		messages <- i
	}
	close(messages)
	n := <-taken
	fmt.Printf("oneway %d in %f s\n", n, time.Since(start).Seconds())
}

// pingpong waits for an answer to each message before it sends the next.
func pingpong(count int) {
	type ping struct{ reply chan<- struct{} }
	pings, pongs := make(chan ping), make(chan struct{})
	go func() {
		for p := range pings {
			p.reply <- struct{}{}
		}
	}()
	start := time.Now()
	n := 0
	for n < count {
		pings <- ping{pongs}
		<-pongs
		n++
	}
	fmt.Printf("pingpong %d in %f s\n", n, time.Since(start).Seconds())
}

// ring hands a number round, smaller by one at each step.
func ring(size, count int) {
	done := make(chan int)
	start := time.Now()
	first := make(chan int, 1)
	next := first
	for i := 1; i < size; i++ {
		in := make(chan int, 1)
		go relay(in, next, done)
		next = in
	}
	go relay(first, next, done)
	ready := time.Now()
	first <- count
	last := <-done
	end := time.Now()
	micros := func(d time.Duration, n int) float64 { return d.Seconds() * 1e6 / float64(n) }
	fmt.Printf("Setup : %f s (%f us per spawn) (%d spawns)\n",
		ready.Sub(start).Seconds(), micros(ready.Sub(start), size), size)
	fmt.Printf("Run : %f s (%f us per msg) (%d msgs)\n",
		end.Sub(ready).Seconds(), micros(end.Sub(ready), count), count-last)
}

// relay passes each number on less one; the last message says that it is 0 now.
func relay(in <-chan int, next, done chan<- int) {
	for n := range in {
		if n == 1 {
			done <- n - 1
		} else {
			next <- n - 1
		}
	}
}

// waiting tells how much memory each goroutine holds that only waits for a message.
func waiting(count int) {
	wait := func(n int) {
		for i := 0; i < n; i++ {
			go func(messages <-chan int) { <-messages }(make(chan int, 1))
		}
	}
	wait(1000)
	time.Sleep(50 * time.Millisecond)
	before := resident()
	wait(count)
	time.Sleep(200 * time.Millisecond)
	fmt.Printf("waiting %f bytes %d processes\n", float64(resident()-before)/float64(count), count)
}

// resident is what the operating system says this program holds, in bytes.
func resident() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if kilobytes := strings.TrimPrefix(line, "VmRSS:"); kilobytes != line {
			return number(strings.Fields(kilobytes)[0]) * 1024
		}
	}
	log.Fatal("/proc/self/status has no VmRSS")
	return 0
}
