"""Writes the depth map of a bundle as a PLY point cloud: point_cloud.py BUNDLE TRUST_FILE CLOUD.ply"""
import sys

import capbundle
import numpy as np

with capbundle.open(sys.argv[1], trust=sys.argv[2], require=["depth"]) as bundle:
    if bundle.verdict != "verified" or not bundle.intrinsics:
        sys.exit(f"{bundle.name}: {bundle.verdict}, camera: {bundle.intrinsics}")
    depth, camera, pose = bundle.depth, bundle.intrinsics, np.array(bundle.pose or np.eye(4))
rows, columns = np.nonzero(np.isfinite(depth) & (depth > 0))
z = depth[rows, columns]
x = ((columns + 0.5) * camera.width / depth.shape[1] - camera.cx) / camera.fx * z
y = ((rows + 0.5) * camera.height / depth.shape[0] - camera.cy) / camera.fy * z
cloud = (np.stack([x, -y, -z, np.ones_like(z)], 1) @ pose.T)[:, :3].astype("<f4")
axes = "".join(f"property float {axis}\n" for axis in "xyz")
header = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(cloud)}\n{axes}end_header\n"
with open(sys.argv[3], "wb") as file:
    file.write(header.encode() + cloud.tobytes())
