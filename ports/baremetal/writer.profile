# Build profile of the library for the sample writer
activation silu
attention window
attention in_place
norm rms
operation embed
operation linear
operation norm
operation add
operation gate
operation attention
operation rotate
operation pool
operation append
part generation
pool last
text byte_level
text cut
tokenizer bpe
weights int8
limit inputs 3
limit linears 36
limit spaces 3
# Sessions have one worker; without this line up to 64.
limit workers 1
# Left out, as no model needs them: error messages with their numbers, attention maps.
#part errors
#part taps
# Left out, as the sample decodes greedily: sampling, beam search, speculative decoding.
#generate sampling
#generate beams
#generate drafts
