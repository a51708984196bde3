"""A map-style dataset of verified captures: torch.utils.data.DataLoader(Captures("archive", "trusted_devices"))"""
import pathlib

import capbundle


class Captures:
    def __init__(self, folder, trust):
        self.paths = sorted(pathlib.Path(folder).rglob("*.bundle"))
        self.trust = capbundle.Trust(trust)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with capbundle.open(self.paths[index], trust=self.trust, require=["depth"]) as bundle:
            if bundle.verdict != "verified":
                raise ValueError(f"{bundle.name}: {bundle.verdict}")
            return {"id": bundle.id, "photo": bundle.photo, "depth": bundle.depth.copy()}  # torch wants to write
