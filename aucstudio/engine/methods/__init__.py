"""The methods, a module per family; ``methods.toml`` beside this folder lists them."""
