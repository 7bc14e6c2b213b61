"""The models of the comparisons as PyTorch users write them, with the weights of the ONNX file under the builder's names."""
import torch
import torch.nn.functional as F


class Named(torch.nn.Module):
    """Holds weights of an ONNX file, such as `self["h.0.ln_1.weight"]`."""

    def __init__(self, weights, trains=False):
        super().__init__()
        self.names = {n: n.replace(".", "/") for n in weights}
        for n, value in weights.items():
            self.register_parameter(self.names[n], torch.nn.Parameter(torch.from_numpy(value), requires_grad=trains))

    def __getitem__(self, name):
        return self._parameters[self.names[name]]

    def __contains__(self, name):
        return name in self.names

    def count(self, pattern):
        """Returns how many consecutive layers the weights have. `pattern` contains the place of the layer's number."""
        n = 0
        while pattern.format(n) in self.names:
            n += 1
        return n

    def norm(self, x, name, epsilon):
        return F.layer_norm(x, x.shape[-1:], self[f"{name}.weight"], self[f"{name}.bias"], epsilon)

    def linear(self, x, name):
        """Applies a linear layer. The builder's weights have the shape [inputs, outputs]."""
        return torch.addmm(self[f"{name}.bias"], x.flatten(0, -2), self[f"{name}.weight"]).view(*x.shape[:-1], -1)


def heads(x, n):
    return x.view(*x.shape[:2], n, -1).transpose(1, 2)


class Gpt2(Named):
    """GPT-2, or one stage of it: the layers to which `weights` belong."""

    def __init__(self, weights, heads=12, trains=False):
        super().__init__(weights, trains)
        self.heads = heads
        self.layers = sorted({int(n.split(".")[1]) for n in weights if n.startswith("h.")})

    def forward(self, input_ids):
        x = self.embed(input_ids) if "wpe.weight" in self else input_ids
        for i in self.layers:
            x = self.layer(x, f"h.{i}")
        return self.head(x) if "ln_f.weight" in self else x

    def embed(self, ids):
        return F.embedding(ids, self["wte.weight"]) + F.embedding(torch.arange(ids.shape[1], device=ids.device), self["wpe.weight"])

    def layer(self, x, name):
        qkv = self.linear(self.norm(x, f"{name}.ln_1", 1e-5), f"{name}.attn.c_attn")
        q, k, v = (heads(t, self.heads) for t in qkv.chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.linear(y, f"{name}.attn.c_proj")
        h = F.gelu(self.linear(self.norm(x, f"{name}.ln_2", 1e-5), f"{name}.mlp.c_fc"), approximate="tanh")
        return x + self.linear(h, f"{name}.mlp.c_proj")

    def head(self, x):
        x = self.norm(x, "ln_f", 1e-5)
        return x @ (self["lm_head.weight"] if "lm_head.weight" in self else self["wte.weight"].T)


class Bert(Named):
    def forward(self, input_ids, attention_mask, token_type_ids):
        position = torch.arange(input_ids.shape[1])
        x = F.embedding(input_ids, self["embeddings.word"]) + F.embedding(token_type_ids, self["embeddings.type"])
        x = self.norm(x + F.embedding(position, self["embeddings.position"]), "embeddings.norm", 1e-12)
        allowed = attention_mask[:, None, None, :].bool()
        for i in range(self.count("encoder.layer.{}.norm.weight")):
            name = f"encoder.layer.{i}"
            q, k, v = (heads(self.linear(x, f"{name}.attention.{part}"), 12) for part in ("query", "key", "value"))
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).transpose(1, 2).flatten(2)
            x = self.norm(x + self.linear(y, f"{name}.attention.output"), f"{name}.attention.norm", 1e-12)
            h = F.gelu(self.linear(x, f"{name}.intermediate"))
            x = self.norm(x + self.linear(h, f"{name}.output"), f"{name}.norm", 1e-12)
        return x


class ResNet(Named):
    def conv(self, x, name, stride=1):
        weight = self[f"{name}.weight"]
        return F.conv2d(x, weight, self[f"{name}.bias"], stride, weight.shape[-1] // 2)

    def forward(self, pixels):
        x = F.max_pool2d(F.relu(self.conv(pixels, "stem", 2)), 3, 2, 1)
        for s in range(self.count("stage.{}.0.conv1.weight")):
            for i in range(self.count(f"stage.{s}." + "{}.conv1.weight")):
                name, stride = f"stage.{s}.{i}", 2 if s and not i else 1
                y = F.relu(self.conv(x, f"{name}.conv1"))
                y = F.relu(self.conv(y, f"{name}.conv2", stride))
                y = self.conv(y, f"{name}.conv3")
                x = F.relu(y + (self.conv(x, f"{name}.shortcut", stride) if f"{name}.shortcut.weight" in self.names else x))
        return F.linear(x.mean((2, 3)), self["fc.weight"], self["fc.bias"])


MODELS = {"gpt2": Gpt2, "bert": Bert, "resnet": ResNet}
