"""The vectors of Spec/Vectors, one module a part. Each module has cases(), which yields Case objects."""
