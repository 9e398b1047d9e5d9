"""The methods, by family; ``aucstudio.engine.catalogue.MODULES`` lists which module has which."""
