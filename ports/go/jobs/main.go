// Jobs does the jobs of the ports: classify, embed, generate, look, answer and weigh words. It writes their results as JSON, which
// tests/ports/jobs.py compares with those of the command.
//
//	jobs FOLDER TEXT...
//
// FOLDER has the blobs that the tests convert.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"fovea"
)

type class struct {
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
	Logit       float32 `json:"logit"`
}

type answer struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"`
	Begin int     `json:"begin"`
	End   int     `json:"end"`
}

type weight struct {
	Token  string  `json:"token"`
	ID     int32   `json:"id"`
	Weight float32 `json:"weight"`
}

type mapped struct {
	Operation string          `json:"operation"`
	Segments  [][][][]float32 `json:"segments"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx, folder, texts := context.Background(), os.Args[1], os.Args[2:]
	open := func(name string) *fovea.Model {
		model, err := fovea.Open(folder + "/" + name + ".fovea")
		check(err)
		return model
	}
	run, results := fovea.RunOptions{Workers: 2}, map[string]any{}

	// Classify, at once and sentence by sentence.
	section := open("package-section")
	for job, model := range map[string]*fovea.Model{"classify": section, "documents": open("package-section-hierarchical")} {
		found, err := model.Classify(ctx, texts, run)
		check(err)
		var all [][]class
		for _, classes := range found {
			var one []class
			for _, c := range classes {
				one = append(one, class{c.Label, c.Probability, c.Logit})
			}
			all = append(all, one)
		}
		results[job] = all
	}
	var ids [][]int32
	for _, text := range texts {
		encoding, err := section.Encode(text, fovea.EncodeOptions{})
		check(err)
		ids = append(ids, encoding.IDs)
	}
	results["tokens"] = ids

	// Embed: the model's pooled output, and the mean of a decoder's hidden states.
	for job, name := range map[string]string{"pooled": "package-section-encoder", "means": "package-writer-encoder"} {
		rows, err := open(name).Embed(ctx, texts, run)
		check(err)
		results[job] = rows
	}

	// Generate: a decoder continues a text, greedily, by sampling and up to a stop string; another model translates.
	greedy := fovea.GenerateOptions{MaxTokens: 24, Workers: 2}
	sampled, stopped := greedy, greedy
	sampled.Sampling = fovea.Sampling{Temperature: 0.8, TopK: 20, Seed: 7}
	stopped.Stop = []string{"is a lib", "nowhere"}
	writer := open("package-writer")
	for job, options := range map[string]fovea.GenerateOptions{"greedy": greedy, "sampled": sampled, "stopped": stopped} {
		generation, err := writer.Generate(ctx, []string{"libs / libpng-tools\n"}, options)
		check(err)
		var parts strings.Builder
		check(generation.Stream(ctx, func(_ int, part string) error {
			_, err := parts.WriteString(part)
			return err
		}))
		results[job] = parts.String()
	}
	dates, err := open("date-normaliser").Generate(ctx, []string{"3rd of March 2014", "Tuesday, 5 May 1998", "1/2/2003"},
		fovea.GenerateOptions{})
	check(err)
	check(dates.Stream(ctx, func(int, string) error { return nil }))
	results["dates"] = dates.Texts()

	// Look: all attention of a batch of texts, dense and sparse.
	program, err := section.Program("")
	check(err)
	var taps []fovea.Tap
	for _, name := range program.Attentions() {
		taps = append(taps, fovea.Tap{Operation: name, Sparse: true})
	}
	for job, wanted := range map[string][]fovea.Tap{"look": nil, "look_sparse": taps} {
		looked, err := section.Look(ctx, texts, wanted, run)
		check(err)
		var maps []mapped
		for _, one := range looked.Maps {
			all := mapped{Operation: one.Operation}
			for segment := 0; segment < one.Segments(); segment++ {
				var heads [][][]float32
				for head := 0; head < one.Heads; head++ {
					heads = append(heads, one.Segment(segment, head))
				}
				all.Segments = append(all.Segments, heads)
			}
			maps = append(maps, all)
		}
		results[job] = maps
		check(os.WriteFile(folder+"/"+job+".safetensors", looked.File, 0o644))
	}

	// Answer a question in a context, at once and in parts; weigh the vocabulary, with the default prompt and another.
	passage := "A library to read compressed audio files. \u00c4ltere und neuere Formate: it supports FLAC, Ogg Vorbis " +
		"and \u4e2d\u6587 tags; a text editor for programmers is not part of it, nor are games, fonts or a web server."
	for job, options := range map[string]fovea.AnswerOptions{
		"answers": {Run: run, Top: 4, AllowNone: true},
		"long_answers": {Run: fovea.RunOptions{Workers: 2, MaxLength: 30}, Top: 4, AllowNone: true, Stride: 8,
			MaxTokens: 5},
	} {
		found, err := open("question").Answer(ctx, "Which formats?", passage, options)
		check(err)
		var all []answer
		for _, one := range found {
			all = append(all, answer{one.Text, one.Score, one.Begin, one.End})
		}
		results[job] = all
	}
	for job, prompt := range map[string]string{"weights": "", "document_weights": "document"} {
		found, err := open("weights").WordWeights(ctx, texts, 6, fovea.RunOptions{Workers: 2, Prompt: prompt})
		check(err)
		var all [][]weight
		for _, weights := range found {
			var one []weight
			for _, w := range weights {
				one = append(one, weight{w.Token, w.ID, w.Weight})
			}
			all = append(all, one)
		}
		results[job] = all
	}
	output := bufio.NewWriter(os.Stdout)
	check(json.NewEncoder(output).Encode(results))
	check(output.Flush())
}
