// Writes common/base/gen/unicode_tables.h: what Go's unicode package says of characters, as ranges.
package main

import (
	"fmt"
	"strconv"
	"unicode"
)

func ranges(name string, is func(rune) bool) {
	fmt.Printf("\nstatic const struct range %s[] = {\n", name)
	begin := rune(-1)
	n := 0
	for c := rune(0x80); c <= unicode.MaxRune+1; c++ {
		in := c <= unicode.MaxRune && is(c)
		if in && begin < 0 {
			begin = c
		} else if !in && begin >= 0 {
			fmt.Printf("{ 0x%x, 0x%x },", begin, c-1)
			begin = -1
			if n++; n%6 == 0 {
				fmt.Println()
			}
		}
	}
	fmt.Println("};")
}

func itself(c rune) rune { return c }

// Runs of characters that map by one distance, where that is not what `but` says; every second one where step is 2.
func mapping(name string, to, but func(rune) rune) {
	type run struct{ low, high, step, by rune }
	var all []run
	for c := rune(0x80); c <= unicode.MaxRune; c++ {
		by := to(c) - c
		if to(c) == but(c) {
			continue
		}
		if n := len(all) - 1; n >= 0 && all[n].by == by {
			r := &all[n]
			if distance := c - r.high; (r.low == r.high && distance <= 2) || (r.low != r.high && distance == r.step) {
				r.step = distance
				r.high = c
				continue
			}
		}
		all = append(all, run{c, c, 1, by})
	}
	fmt.Printf("\nstatic const struct mapped %s[] = {\n", name)
	for i, r := range all {
		fmt.Printf("{ 0x%x, 0x%x, %d, %d },", r.low, r.high, r.step, r.by)
		if i%4 == 3 {
			fmt.Println()
		}
	}
	fmt.Println("};")
}

func main() {
	fmt.Println("/* Written by e2e/template/unicode. */")
	ranges("letters", unicode.IsLetter)
	ranges("digits", unicode.IsDigit)
	ranges("printable", strconv.IsPrint)
	mapping("upper", unicode.ToUpper, itself)
	mapping("lower", unicode.ToLower, itself)
	mapping("title", unicode.ToTitle, unicode.ToUpper)
}
