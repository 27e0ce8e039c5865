"""Trains a GRU with PyTorch that reads the digits of examples/data row by row, and writes its weights, as PyTorch names
and lays them out, to examples/data/digits_gru.safetensors, and what it says of every fifth image, which it has not
learned from, to examples/data/digits_gru_logits.safetensors. Needs torch, numpy and safetensors.
"""

import pathlib

import numpy as np
import torch
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data"


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(8, 32)
        self.out = torch.nn.Linear(32, 10)

    def forward(self, rows):  # [time, batch, 8]
        return self.out(self.gru(rows)[0][-1])


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    table = np.loadtxt(DATA / "digits.csv", delimiter=",", dtype=np.float32)
    rows = torch.from_numpy(table[:, :64] / 16).reshape(-1, 8, 8).transpose(0, 1).contiguous()
    labels = torch.from_numpy(table[:, 64].astype(np.int64))
    held_out = torch.arange(len(labels)) % 5 == 4
    learned = torch.arange(len(labels))[~held_out]
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), 0.005, weight_decay=1e-5)
    for epoch in range(60):
        for batch in learned[torch.randperm(len(learned))].split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(rows[:, batch]), labels[batch]).backward()
            optimizer.step()
        if epoch == 40:
            optimizer.param_groups[0]["lr"] = 0.001
    save_file(model.state_dict(), DATA / "digits_gru.safetensors", {"format": "pt"})
    with torch.no_grad():
        logits = model.double()(rows[:, held_out].double())
    save_file({"logits": logits.float()}, DATA / "digits_gru_logits.safetensors", {"format": "pt"})
    print(f"{(logits.argmax(1) == labels[held_out]).float().mean():.4f} of {len(logits)} images")


if __name__ == "__main__":
    main()
