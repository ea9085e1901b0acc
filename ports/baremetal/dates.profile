# Build profile of the library for the sample dates
activation tanh
attention score_additive
operation embed
operation linear
operation attention
operation pool
operation concat
operation recurrent
operation cell
part generation
pool first
cell gru
text map
text strip
tokenizer unigram
weights f16
weights int8
limit inputs 3
limit linears 10
limit spaces 2
# Sessions have one worker; without this line up to 64.
limit workers 1
# Left out, as no model needs them: error messages with their numbers, attention maps.
#part errors
#part taps
# Left out, as the sample decodes greedily: sampling, beam search, speculative decoding.
#generate sampling
#generate beams
#generate drafts
