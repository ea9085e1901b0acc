package fovea

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	background = context.Background()
	texts      = []string{"a text editor for programmers", "library for reading png files", "x"}
	prompts    = []string{"libs / libpng-tools\n", "editors / vim\n"}
)

func path(t *testing.T, name string) string {
	folder := os.Getenv("FOVEA_BLOBS")
	if folder == "" {
		t.Fatal("FOVEA_BLOBS is not set: run tests/ports/go.sh")
	}
	return folder + "/" + name + ".fovea"
}

func open(t *testing.T, name string) *Model {
	t.Helper()
	model, err := Open(path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	return model
}

func refused(t *testing.T, err error, status Status, words string) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Status != status || !strings.Contains(err.Error(), words) {
		t.Fatalf("refused otherwise: %v (wanted %s with '%s')", err, status, words)
	}
	return failure
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Fatalf("%v, expected %v", found, expected)
	}
}

func TestBlobsThatAreNone(t *testing.T) {
	for _, name := range []string{"/none.fovea", "a\x00b"} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Fatal(err)
		}
	}
	raw := must[[]byte](t)(os.ReadFile(path(t, "package-section")))
	for _, size := range []int{0, 1, 63, 64, 1000, len(raw) - 1} {
		_, err := New(raw[:size])
		var failure *Error
		if !errors.As(err, &failure) || failure.Status.Kind() != Blob && size > 0 {
			t.Fatal(size, err)
		}
	}
	raw[len(raw)/2] ^= 1
	_, err := New(raw)
	refused(t, err, Checksum, "")
	model := must[*Model](t)(ModelOptions{SkipChecksum: true, Backend: BackendHighway}.New(raw)) // no fault of the structure
	equal(t, model.Backend, "highway")
	check(t, model.Close())
}

func TestResultsThatAModelHasNot(t *testing.T) {
	section, question, weights := open(t, "package-section"), open(t, "question"), open(t, "weights")
	_, err := section.Answer(background, "a", "b", AnswerOptions{})
	refused(t, err, BadName, "does not answer questions")
	_, err = section.WordWeights(background, []string{"a"}, 0, RunOptions{})
	refused(t, err, BadName, "not a masked language model")
	_, err = question.Embed(background, []string{"a"}, RunOptions{})
	refused(t, err, BadName, "use Answer")
	_, err = question.Answer(background, "which one", "a b c d e", AnswerOptions{Run: RunOptions{MaxLength: 6}, Stride: 3})
	refused(t, err, TooLong, "shorten it")
	seven := AnswerOptions{Run: RunOptions{MaxLength: 7}, Stride: 1}
	must[[]Answer](t)(question.Answer(background, "[SEP] [SEP]", "a b c", seven))
	seven.Run.Literal = true // "[", "SEP", "]": no room is left
	_, err = question.Answer(background, "[SEP] [SEP]", "a b c", seven)
	refused(t, err, TooLong, "shorten it")
	_, err = question.Answer(background, "a", "b", AnswerOptions{Top: -1})
	refused(t, err, BadOption, "top")
	_, err = question.Answer(background, "a", "b\xff", AnswerOptions{})
	refused(t, err, BadUTF8, "")
	equal(t, len(must[[]Answer](t)(question.Answer(background, "a", "", AnswerOptions{}))), 0)
	equal(t, must[[]Answer](t)(question.Answer(background, "", "", AnswerOptions{AllowNone: true}))[0].Text, "")

	_, err = weights.Embed(background, []string{"a"}, RunOptions{Prompt: "other"})
	refused(t, err, BadName, "its prompts are: document, query")
	rows := must[[][]float32](t)(weights.Embed(background, []string{"a text"}, RunOptions{}))
	listed := must[[][]Weight](t)(weights.WordWeights(background, []string{"a text"}, 0, RunOptions{Prompt: "query"}))
	some := 0
	for _, weight := range rows[0] {
		if weight != 0 {
			some++
		}
	}
	equal(t, len(listed[0]), some)
	for _, one := range listed[0] {
		equal(t, one.Weight, rows[0][one.ID])
	}
	plain := must[[][]float32](t)(weights.Embed(background, []string{"find: a text"}, RunOptions{NoPrompt: true}))
	equal(t, plain, rows)
}

func TestTextsThatAreNone(t *testing.T) {
	model := open(t, "package-section")
	none := must[[][]Class](t)(model.Classify(background, nil, RunOptions{}))
	equal(t, len(none), 0)
	equal(t, len(must[[][]float32](t)(model.Embed(background, []string{}, RunOptions{}))), 0)
	_, err := model.Look(background, nil, nil, RunOptions{})
	refused(t, err, BadOption, "")
	_, err = model.Classify(background, []string{"ab\xffc"}, RunOptions{})
	equal(t, refused(t, err, BadUTF8, "").Index, uint64(2))
	equal(t, len(must[[][]Class](t)(model.Classify(background, []string{"", "a\x00b"}, RunOptions{}))), 2)
	_, err = model.FindToken("no\x00piece")
	refused(t, err, BadName, "")
	_, err = model.FindToken("")
	refused(t, err, BadName, "")
	_, err = model.Decode([]int32{-1})
	refused(t, err, BadID, "")
	equal(t, must[string](t)(model.Decode(nil)), "")
	_, err = model.Piece(math.MaxInt32)
	refused(t, err, BadID, "")
	encoding := must[*Encoding](t)(model.Encode(texts[0], EncodeOptions{}))
	equal(t, must[string](t)(model.Decode(encoding.IDs)), texts[0])
	id := must[int32](t)(model.FindToken(must[string](t)(model.Piece(encoding.IDs[1]))))
	equal(t, id, encoding.IDs[1])
	pair := must[*Encoding](t)(model.EncodePair(texts[0], "", EncodeOptions{}))
	equal(t, len(pair.IDs), len(encoding.IDs)+1)
	long := strings.Repeat("word ", 5000)
	cut := must[*Encoding](t)(model.Encode(long, EncodeOptions{}))
	whole := must[*Encoding](t)(model.Encode(long, EncodeOptions{Whole: true}))
	equal(t, cut.Dropped, len(whole.IDs)-len(cut.IDs))
	var warned []string
	model.Warn = func(text string) { warned = append(warned, text) }
	must[[][]Class](t)(model.Classify(background, []string{"a", long, long}, RunOptions{}))
	if len(warned) != 1 || !strings.Contains(warned[0], "texts[1] is longer than the model reads: left out are") ||
		!strings.HasSuffix(warned[0], "tokens; so are 1 more of 3 texts") {
		t.Fatal(warned)
	}
	literal := must[*Encoding](t)(model.Encode("a [SEP] b", EncodeOptions{Literal: true}))
	read := must[*Encoding](t)(model.Encode("a [SEP] b", EncodeOptions{}))
	if len(read.IDs) != 5 || len(literal.IDs) <= 5 {
		t.Fatal(read.IDs, literal.IDs)
	}
	classes := must[[][]Class](t)(model.Classify(background, []string{"a [SEP] b"}, RunOptions{Literal: true}))
	warned = nil
	other := must[[][]Class](t)(model.Classify(background, []string{"a [SEP] b", "a [MASK] b", "[CLS]"}, RunOptions{}))
	if len(warned) != 1 || !strings.Contains(warned[0], "texts[0] spells special tokens, which are read as such; "+
		"so do 1 more of 3 texts") {
		t.Fatal(warned)
	}
	if classes[0][0].Logit == other[0][0].Logit {
		t.Fatal("the option has no effect")
	}
	_, err = model.Encode(long, EncodeOptions{MaxLength: -1})
	refused(t, err, BadOption, "")
}

func TestLimits(t *testing.T) {
	model := open(t, "package-section")
	for _, rows := range []int{-1, 0, math.MaxInt32, math.MaxUint32, math.MaxInt64} {
		limits := []Limit{{"tokens", rows, 0}, {"texts", rows, 0}}
		if _, err := model.Session(SessionOptions{Limits: limits}); err == nil {
			t.Fatal(rows, "rows are not refused")
		}
		_, err := model.Classify(background, texts, RunOptions{Workers: rows})
		if rows != 0 && err == nil {
			t.Fatal(rows, "workers are not refused")
		}
	}
	_, err := model.Session(SessionOptions{Limits: []Limit{{"none\x00", 1, 1}}})
	refused(t, err, BadName, "tokens")
	_, err = model.Session(SessionOptions{Program: "none"})
	refused(t, err, BadName, "there are: ")
	_, err = model.Session(SessionOptions{Taps: []Tap{{Operation: "attentions.0", Heads: []int{64}}}})
	refused(t, err, BadOption, "head 64")
	session := must[*Session](t)(model.Session(SessionOptions{Limits: []Limit{{"tokens", 8, 4}, {"texts", 8, 0}}}))
	defer session.Close()
	refused(t, session.Run(background), Order, "")
}

func TestSessions(t *testing.T) {
	model := open(t, "package-section")
	session := must[*Session](t)(model.Session(SessionOptions{Limits: []Limit{{"tokens", 8, 4}, {"texts", 8, 0}}}))
	refused(t, session.SetSegments("tokens", []uint32{3, 3, 3}), TooManyRows, "expected 8, found 9")
	refused(t, session.SetSegments("tokens", []uint32{5}), TooLong, "")
	check(t, session.SetSegments("tokens", nil))
	check(t, session.SetSegments("tokens", []uint32{2, 0, 1}))
	equal(t, must[[]uint32](t)(session.Segments("tokens")), []uint32{0, 2, 2, 3})
	refused(t, session.WriteI32("input_ids", []int32{1}), BadOption, "")
	refused(t, session.WriteF32("input_ids", []float32{1, 2, 3}), BadOption, "")
	check(t, session.WriteI32("input_ids", []int32{1, math.MaxInt32, 2}))
	equal(t, refused(t, session.Run(background), BadID, "").Index, uint64(1))
	check(t, session.WriteI32("input_ids", []int32{1, 1, 2}))
	check(t, session.Run(background))
	logits := must[Matrix[float32]](t)(session.Output("logits"))
	equal(t, logits.Rows, 3)
	_, err := session.OutputI32("logits")
	refused(t, err, BadOption, "")
	_, err = session.Output("none")
	refused(t, err, BadName, "logits")
	_, err = session.AttentionMap("attentions.0")
	refused(t, err, BadName, "")
	check(t, model.Close()) // the session keeps what it needs
	check(t, session.Run(background))
	equal(t, must[Matrix[float32]](t)(session.Output("logits")), logits)
	check(t, session.Close())
	check(t, session.Close())
	for _, err := range []error{session.Run(background), session.SetSegments("tokens", nil), session.Bind(nil)} {
		equal(t, err, ErrClosed)
	}
	_, err = model.Classify(background, texts, RunOptions{})
	equal(t, errors.Is(err, ErrClosed), true)
	refused(t, error(&Error{Status: BadID}), BadID, "FOVEA_E_ID")
}

func TestManyGoroutines(t *testing.T) {
	model := open(t, "package-section")
	expected := must[[][]Class](t)(model.Classify(background, texts, RunOptions{}))
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func(workers int) {
			defer group.Done()
			for turn := 0; turn < 8; turn++ {
				found, err := model.Classify(background, texts, RunOptions{Workers: workers})
				if err != nil || !reflect.DeepEqual(found, expected) {
					t.Error(found, err)
				}
			}
		}(i)
	}
	group.Wait()

	session := large(t, model)
	busy, other := 0, make(chan error)
	go func() { other <- session.Run(background) }()
	for waiting := true; waiting; {
		select {
		case err := <-other:
			if err != nil && err != ErrBusy {
				t.Error(err)
			}
			waiting = false
		default:
			if err := session.Run(background); err == ErrBusy {
				busy++
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	go session.Run(background)
	check(t, session.Close()) // waits for the run
	equal(t, session.Run(background), ErrClosed)
}

func large(t *testing.T, model *Model) *Session {
	t.Helper()
	session := must[*Session](t)(model.Session(SessionOptions{Rows: 1024, Limits: []Limit{{"texts", 8, 0}}}))
	check(t, session.SetSegments("tokens", []uint32{128, 128, 128, 128, 128, 128, 128, 128}))
	return session
}

func TestCancelled(t *testing.T) {
	session := large(t, open(t, "package-section"))
	defer session.Close()
	ended, cancel := context.WithCancel(background)
	cancel()
	equal(t, session.Run(ended), context.Canceled)
	var err error
	for begun := time.Now(); err == nil && time.Since(begun) < 20*time.Second; {
		short, cancel := context.WithTimeout(background, 300*time.Microsecond)
		err = session.Run(short)
		cancel()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	check(t, session.Run(background)) // no request is left
}

func all(t *testing.T, model *Model, prompts []string, options GenerateOptions) []string {
	t.Helper()
	generation := must[*Generation](t)(model.Generate(background, prompts, options))
	defer generation.Close()
	check(t, generation.Stream(background, func(int, string) error { return nil }))
	_, err := generation.Next(background)
	equal(t, err, io.EOF)
	return generation.Texts()
}

func TestGenerations(t *testing.T) {
	model := open(t, "package-writer")
	options := GenerateOptions{MaxTokens: 12}
	var alone []string
	for _, prompt := range prompts {
		alone = append(alone, all(t, model, []string{prompt}, options)...)
	}
	equal(t, all(t, model, prompts, options), alone)

	generation := must[*Generation](t)(model.Generate(background, prompts, options))
	ended, cancel := context.WithCancel(background)
	cancel()
	for step := 0; step < 12; step++ {
		_, err := generation.Next(ended)
		equal(t, err, context.Canceled)
		must[*Step](t)(generation.Next(background))
	}
	equal(t, generation.Texts(), alone)
	equal(t, generation.Ends(), []End{MaxTokens, MaxTokens})
	check(t, generation.Close())
	check(t, generation.Close())
	equal(t, generation.Texts(), alone)
	_, err := generation.Next(background)
	equal(t, err, ErrClosed)

	stop := options
	stop.Stop = []string{alone[0][3:9]}
	equal(t, all(t, model, prompts, stop), []string{alone[0][:3], alone[1]})
	stop.Stop = []string{""}
	_, err = model.Generate(background, prompts, stop)
	refused(t, err, TooLong, "")
	breaks := errors.New("enough")
	generation = must[*Generation](t)(model.Generate(background, prompts, options))
	equal(t, generation.Stream(background, func(int, string) error { return breaks }), breaks)
	check(t, generation.Close())

	_, err = model.Generate(background, prompts, GenerateOptions{StopIDs: []int32{-5}})
	refused(t, err, BadID, "")
	_, err = model.Generate(background, prompts, GenerateOptions{Sampling: Sampling{Temperature: float32(math.NaN())}})
	refused(t, err, BadOption, "")
	_, err = model.Generate(background, []string{strings.Repeat("word ", 5000)}, options)
	refused(t, err, TooLong, "give a shorter one")
	_, err = model.Generate(background, nil, options)
	refused(t, err, BadOption, "no text")
	_, err = open(t, "package-section").Generate(background, prompts, options)
	refused(t, err, BadName, "generates no text")
}

func TestAllow(t *testing.T) {
	model := open(t, "package-writer")
	only := must[*Encoding](t)(model.Encode("library", EncodeOptions{Plain: true})).IDs[0]
	options := GenerateOptions{MaxTokens: 3, Allow: func(text, step int, words []uint32) {
		for i := range words {
			words[i] = 0
		}
		words[only/32] = 1 << (only % 32)
	}}
	generation := must[*Generation](t)(model.Generate(background, prompts, options))
	step := must[*Step](t)(generation.Next(background))
	equal(t, step.Tokens, []int32{only, only})
	check(t, generation.Close())

	options.Allow = func(text, step int, words []uint32) { panic(fmt.Sprint("in text ", text)) }
	generation = must[*Generation](t)(model.Generate(background, prompts, options))
	func() {
		defer func() { equal(t, recover(), "in text 0") }()
		generation.Next(background)
	}()
	check(t, generation.Close())
}

func TestForgotten(t *testing.T) {
	for i := 0; i < 20; i++ {
		model := must[*Model](t)(Open(path(t, "package-writer")))
		generation := must[*Generation](t)(model.Generate(background, prompts, GenerateOptions{MaxTokens: 2}))
		must[*Step](t)(generation.Next(background))
		runtime.GC()
	}
}
