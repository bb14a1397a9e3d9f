"""Whether what moves has room elsewhere: a sound bound, and an example of a packing."""
