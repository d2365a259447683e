// Makes the tables of expected results in common/template/cases: Go's text/template says what each template gives.
//
//	template-oracle FILE.yaml...     writes FILE.json beside each
//	template-oracle -bench FILE      renders FILE's templates with its inputs and prints how long it took
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"
	"time"

	sprig "github.com/go-task/slim-sprig/v3"
	"github.com/gosimple/slug"
	"sigs.k8s.io/yaml"
)

type testCase struct {
	T       string          `json:"t"`
	In      json.RawMessage `json:"in,omitempty"`
	Out     *string         `json:"out,omitempty"`
	Error   *string         `json:"error,omitempty"`
	Ours    *string         `json:"ours,omitempty"`    // where we differ on purpose: our output
	Refused *string         `json:"refused,omitempty"` // or our error
}

type table struct {
	Inputs string            `json:"inputs"` // JSON
	Cases  []json.RawMessage `json:"cases"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "template-oracle:", err)
		os.Exit(1)
	}
}

// Integers that fit are int64, other numbers float64, as API objects are decoded.
func decoded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = decoded(v[k])
		}
	case []any:
		for i := range v {
			v[i] = decoded(v[i])
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		must(err)
		return f
	}
	return v
}

func inputsOf(text json.RawMessage) map[string]any {
	if len(text) == 0 || string(text) == "null" {
		return map[string]any{}
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	must(d.Decode(&v))
	return decoded(v).(map[string]any)
}

func toYaml(v any) (string, error) {
	text, err := yaml.Marshal(v)
	return string(text), err
}

func functions(inputs func() map[string]any) template.FuncMap {
	f := sprig.HermeticTxtFuncMap()
	f["inputs"] = inputs
	f["slugify"] = slug.Make
	f["required"] = func(text string, v any) (any, error) { // ours, as Helm has it
		if v == nil || v == "" {
			return nil, errors.New(text)
		}
		return v, nil
	}
	f["mustToYaml"] = toYaml
	f["toYaml"] = func(v any) string {
		text, _ := toYaml(v)
		return text
	}
	return f
}

func parse(text string, inputs func() map[string]any) (*template.Template, error) {
	return template.New("resourceset").Delims("<<", ">>").Option("missingkey=error").Funcs(functions(inputs)).Parse(text)
}

func render(text string, inputs map[string]any) (string, error) {
	t, err := parse(text, func() map[string]any { return inputs })
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = t.Execute(&out, nil)
	return out.String(), err
}

func answer(raw, inputs json.RawMessage) testCase {
	var c testCase
	if err := json.Unmarshal(raw, &c.T); err != nil {
		must(json.Unmarshal(raw, &c))
	}
	if len(c.In) > 0 {
		inputs = c.In
	}
	out, err := render(c.T, inputsOf(inputs))
	if err != nil {
		text := err.Error()
		c.Error = &text
	} else {
		c.Out = &out
	}
	return c
}

func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must(e.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

func readTable(path string) (t table) {
	text, err := os.ReadFile(path)
	must(err)
	must(yaml.UnmarshalStrict(text, &t))
	return t
}

func answerAll(path string) {
	t := readTable(path)
	var b strings.Builder
	fmt.Fprintf(&b, "{\"inputs\": %s,\n\"cases\": [\n", compact(t.Inputs))
	for i, raw := range t.Cases {
		end := ",\n"
		if i+1 == len(t.Cases) {
			end = "\n"
		}
		b.WriteString(compact(answer(raw, json.RawMessage(t.Inputs))) + end)
	}
	b.WriteString("]}\n")
	must(os.WriteFile(strings.TrimSuffix(path, ".yaml")+".json", []byte(b.String()), 0o644))
}

const benchInputs = 1000

// Parsed for each input, as programs that give `inputs` by a closure do, or once.
func bench(path string, once bool) {
	t := readTable(path)
	var inputs map[string]any
	var parsed []*template.Template
	parseAll := func() {
		parsed = parsed[:0]
		for _, raw := range t.Cases {
			var text string
			must(json.Unmarshal(raw, &text))
			one, err := parse(text, func() map[string]any { return inputs })
			must(err)
			parsed = append(parsed, one)
		}
	}
	inputs = inputsOf(json.RawMessage(t.Inputs))
	parseAll()
	bytesOut := 0
	start := time.Now()
	for i := 0; i < benchInputs; i++ {
		if !once {
			parseAll()
		}
		for _, one := range parsed {
			var out bytes.Buffer
			must(one.Execute(&out, nil))
			bytesOut += out.Len()
		}
	}
	fmt.Printf("%d inputs x %d templates, parsed once %v: %.1f ms, %d bytes\n", benchInputs, len(t.Cases), once,
		float64(time.Since(start).Nanoseconds())/1e6, bytesOut)
}

func main() {
	slug.MaxLength = 63 // of a label value
	if len(os.Args) == 3 && os.Args[1] == "-bench" {
		bench(os.Args[2], true)
		bench(os.Args[2], false)
		return
	}
	for _, path := range os.Args[1:] {
		answerAll(path)
	}
}
