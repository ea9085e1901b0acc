# What the library needs for the sample writer
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
# One worker of a session at a time; without the line up to 64.
limit workers 1
# What no model asks for: texts and numbers of errors, attention weights.
#part errors
#part taps
# Texts written other than by the best token each time.
#generate sampling
#generate beams
#generate drafts
