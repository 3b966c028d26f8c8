"""What is exchanged and held: the sharding rule, the amounts of each choice, and their tables for many plans."""
