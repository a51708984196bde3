"""The vectors of Spec/Vectors, one module for each part. Each module has cases(), which yields Case objects."""

import bundle  # noqa: F401  (makes capbundle importable, whichever case is imported first)
