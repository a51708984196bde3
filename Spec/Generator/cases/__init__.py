"""The vectors of Spec/Vectors, one module for each part. Each module has cases(), which yields Case objects."""
