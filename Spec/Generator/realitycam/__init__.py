"""Checks uploads to a RealityCam server. It follows the code of that server and shares nothing with capbundle."""
