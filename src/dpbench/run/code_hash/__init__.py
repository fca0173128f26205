"""What a result depends on: hashes of the definitions that its algorithm uses, wherever they stand."""
