package fovea

// #include "bridge.h"
import "C"

import (
	"context"
	"unsafe"
)

// AnswerOptions are the options of Answer.
type AnswerOptions struct {
	Run       RunOptions // MaxLength: tokens of question and context that are read at once; 0: 384, or the model's limit.
	Top       int        // The most answers; 0: 1.
	MaxTokens int        // The most tokens of an answer; 0: 15.
	AllowNone bool       // "No answer", an empty text, is one of the answers.
	Stride    int        // Tokens that neighbouring parts of a long context share; 0: 128, or half of MaxLength.
	NoStride  bool       // The parts share none.
}

// Answer is a span of a context that answers a question. No answer: the text is empty.
type Answer struct {
	Text       string
	Score      float64 // The probability of its start times that of its end; found in several parts: their sum.
	Begin, End int     // Bytes of the context.
}

// Weight is the weight of a token of the vocabulary.
type Weight struct {
	Token  string
	ID     int32
	Weight float32
}

const (
	usualLength, usualStride = 384, 128 // as in the original
	windowsOfRun             = 16
)

// windows returns the parts of a pair's second text, each with the first.
func windows(pair *Encoding, limit, stride C.uint32_t) ([]*Encoding, error) {
	special := make([]uint8, len(pair.Special)+1) // not empty: it needs an address
	for i, own := range pair.Special {
		if own {
			special[i] = 1
		}
	}
	room, textTokens := len(pair.IDs)+1, pair.textTokens // a copy: the pair has other pointers
	var all []*Encoding
	for count := 1; len(all) < count; {
		made := &arrays{make([]int32, room), make([]int32, room), make([]uint8, room), make([][2]uint32, room)}
		var counts [2]C.uint64_t
		var record C.fovea_error
		status := C.bridge_window(C.uint64_t(len(pair.IDs)), (*C.uint64_t)(unsafe.Pointer(&textTokens[0])),
			(*C.int32_t)(first(pair.IDs)), (*C.int32_t)(first(pair.Types)), (*C.uint8_t)(first(special)),
			(*C.uint32_t)(first(pair.Ranges)), limit, stride, C.uint64_t(len(all)), C.uint64_t(room),
			(*C.int32_t)(first(made.ids)), (*C.int32_t)(first(made.types)), (*C.uint8_t)(first(made.special)),
			(*C.uint32_t)(first(made.ranges)), &counts[0], &record)
		if status == C.FOVEA_E_LENGTH {
			return nil, refuse(Status(status), "question", "it leaves no more than the %d tokens that neighbouring parts of the "+
				"context share of the %d that are read at once; shorten it, or give a smaller Stride or a larger MaxLength",
				stride, limit)
		}
		if err := failed("question and context", status, &record); err != nil {
			return nil, err
		}
		tokens := int(counts[0])
		count = int(counts[1])
		part := &Encoding{IDs: made.ids[:tokens], Types: made.types[:tokens], Special: make([]bool, tokens),
			Ranges: made.ranges[:tokens], textTokens: pair.textTokens}
		for i, own := range made.special[:tokens] {
			part.Special[i] = own != 0
		}
		all = append(all, part)
	}
	return all, nil
}

// resultInfo states how the results of a program are read.
func (m *Model) resultInfo(program *Program) (C.fovea_result_info, error) {
	info := C.fovea_result_info{struct_size: C.sizeof_fovea_result_info}
	core, err := m.use()
	if err != nil {
		return info, err
	}
	defer core.release()
	var record C.fovea_error
	status := C.fovea_result_get_info(core.handle, C.uint32_t(program.index), nil, &info, &record)
	return info, failed(m.Name, status, &record)
}

// Answer returns the best answers to a question in a context of any length, the best first, as transformers' pipeline
// finds them. There is none if the context has no token that could be an answer.
func (m *Model) Answer(ctx context.Context, question, text string, options AnswerOptions) ([]Answer, error) {
	program, err := m.Program(options.Run.Program)
	if err != nil {
		return nil, err
	}
	info, err := m.resultInfo(program)
	if err != nil {
		return nil, err
	}
	if info.kind != C.FOVEA_RESULT_ANSWERS {
		return nil, refuse(BadName, m.Name, "it does not answer questions: a model whose class in config.json ends with "+
			"ForQuestionAnswering does")
	}
	wanted := options.Run.MaxLength
	if wanted == 0 {
		wanted = usualLength
	}
	_, most, err := m.textLimit(program, wanted)
	if err != nil {
		return nil, err
	}
	shared := options.Stride
	if shared == 0 && !options.NoStride {
		shared = usualStride
		if most/2 < shared {
			shared = most / 2
		}
	}
	var numbers [4]C.uint32_t
	for i, given := range []int{most, shared, options.Top, options.MaxTokens} {
		name := []string{"max length", "stride", "top", "max tokens"}[i]
		if numbers[i], err = number32(given, name); err != nil {
			return nil, err
		}
	}
	pair, err := m.EncodePair(question, text, EncodeOptions{Whole: true, Literal: options.Run.Literal})
	if err != nil {
		return nil, err
	}
	m.warnSpelled([]*Encoding{pair})
	parts, err := windows(pair, numbers[0], numbers[1])
	if err != nil {
		return nil, err
	}
	var scores []float32
	for from := 0; from < len(parts); from += windowsOfRun {
		to := from + windowsOfRun
		if to > len(parts) {
			to = len(parts)
		}
		rows, err := m.scoresOf(ctx, parts[from:to], &info, options.Run)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			scores = append(scores, row...)
		}
	}
	return m.answersIn(text, parts, scores, numbers[2], numbers[3], options.AllowNone)
}

func (m *Model) scoresOf(ctx context.Context, parts []*Encoding, info *C.fovea_result_info, options RunOptions) ([][]float32,
	error) {
	session, _, err := m.run(ctx, parts, options, nil, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.results(info)
}

func (m *Model) answersIn(text string, parts []*Encoding, scores []float32, top, longest C.uint32_t, none bool) ([]Answer,
	error) {
	core, err := m.use()
	if err != nil {
		return nil, err
	}
	defer core.release()
	var tokens []uint64
	var ids []int32
	var special []uint8
	var ranges [][2]uint32
	for _, part := range parts {
		tokens, ids, ranges = append(tokens, uint64(len(part.IDs))), append(ids, part.IDs...), append(ranges, part.Ranges...)
		for _, own := range part.Special {
			mark := uint8(0)
			if own {
				mark = 1
			}
			special = append(special, mark)
		}
	}
	// Empty arrays also need addresses.
	ids, special, ranges, scores = append(ids, 0), append(special, 0), append(ranges, [2]uint32{}), append(scores, 0)
	allow, textTokens := C.uint32_t(0), parts[0].textTokens
	if none {
		allow = 1
	}
	found := make([]C.fovea_answer, len(parts)*max(1, int(top))+1)
	var count C.uint64_t
	var record C.fovea_error
	status := C.bridge_answers(core.handle, C.uint32_t(len(parts)), (*C.uint64_t)(first(tokens)),
		(*C.uint64_t)(unsafe.Pointer(&textTokens[0])), (*C.int32_t)(first(ids)), (*C.uint8_t)(first(special)),
		(*C.uint32_t)(first(ranges)), (*C.float)(first(scores)), bytesOf(text), C.uint64_t(len(text)), top, longest, allow,
		C.uint64_t(len(found)), &found[0], &count, &record)
	if err := failed(m.Name, status, &record); err != nil {
		return nil, err
	}
	var answers []Answer
	for _, one := range found[:count] {
		begin, end := int(one.begin), int(one.end)
		answers = append(answers, Answer{text[begin:end], float64(one.score), begin, end})
	}
	return answers, nil
}

// WordWeights returns for each text the tokens of the vocabulary whose weights are not 0, the largest first (SPLADE); at
// most `top` of them, 0: all. A masked language model that was not published for weights is read as SPLADE reads one.
func (m *Model) WordWeights(ctx context.Context, texts []string, top int, options RunOptions) ([][]Weight, error) {
	texts, err := m.prompted(texts, options)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	most, err := number32(top, "top")
	if err != nil {
		return nil, err
	}
	program, err := m.Program(options.Program)
	if err != nil {
		return nil, err
	}
	info, err := m.resultInfo(program)
	if err != nil {
		return nil, err
	}
	switch info.kind {
	case C.FOVEA_RESULT_WORD_WEIGHTS:
	case C.FOVEA_RESULT_WORDS:
		info.pooling, info.activation = C.FOVEA_POOLING_MAX, C.FOVEA_ACTIVATION_LOG1P
	default:
		return nil, refuse(BadName, m.Name, "it is not a masked language model, so it has no weights of words")
	}
	session, _, err := m.runTexts(ctx, texts, options, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	rows, err := session.results(&info)
	if err != nil {
		return nil, err
	}
	var all [][]Weight
	for _, row := range rows {
		count := 0
		for _, weight := range row {
			if weight != 0 {
				count++
			}
		}
		if most != 0 && int(most) < count {
			count = int(most)
		}
		order := make([]uint32, count+1)
		count = int(C.fovea_result_rank((*C.float)(first(row)), info.width, C.uint32_t(count),
			(*C.uint32_t)(first(order))))
		weights := make([]Weight, count)
		for i, id := range order[:count] {
			piece, err := m.Piece(int32(id))
			if err != nil {
				return nil, err
			}
			weights[i] = Weight{piece, int32(id), row[id]}
		}
		all = append(all, weights)
	}
	return all, nil
}
