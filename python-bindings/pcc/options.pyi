"""Keywords of the functions of pcc. Written by tools/dev/option_stubs.py: do not edit."""
import os
from typing import Literal, Mapping, Sequence, TypedDict, TypeVar

T = TypeVar("T")
Text = str | os.PathLike[str]
OneOrMore = T | Sequence[T]
Texts = OneOrMore[Text] | Mapping[str, object]


class SharedOptions(TypedDict, total=False):
    transformer: str | float | None
    dim: Mapping[str, int] | OneOrMore[str] | None
    dims: Mapping[str, int] | OneOrMore[str] | None
    shape: Mapping[str, Sequence[int]] | OneOrMore[str] | None
    shapes: Mapping[str, Sequence[int]] | OneOrMore[str] | None
    batch_dim: Texts | None
    batch_dims: Texts | None
    external_data_root: Text | None
    random_weights: int | None
    tp: int | None
    pp: int | None
    dp: int | None
    cp: int | None
    ep: int | None
    mesh: Mapping[str, int] | OneOrMore[str] | None
    microbatches: int | None
    schedule: Text | None
    virtual_stages: int | None
    shard: Texts | None
    shards: Texts | None
    configuration: Text | None
    stage_at: Texts | None
    preset: OneOrMore[Literal["megatron", "fsdp", "zero1", "zero2", "zero3", "sequence", "expert"]] | None
    presets: OneOrMore[Literal["megatron", "fsdp", "zero1", "zero2", "zero3", "sequence", "expert"]] | None
    train: bool | None
    loss: Text | None
    optimizer: Literal["sgd", "adam", "adamw", "adagrad"] | None
    lr: float | None
    lr_decay: float | None
    momentum: float | None
    betas: Sequence[float] | None
    eps: float | None
    weight_decay: float | None
    clip_norm: float | None
    reproducible: bool | None
    recompute: Literal["none", "full", "selective", "auto"] | None
    lr_schedule: Text | None
    loss_scale: str | float | None
    dropout: Literal["on", "off"] | None
    seed: str | float | None
    decay: Texts | None
    freeze: Texts | None
    train_only: Texts | None
    target: Literal["cpu", "cuda"] | None
    gpu_arch: Text | None
    tf32: bool | None
    cpu: Texts | None
    cpus: Texts | None
    cluster: Text | None
    memory_limit: int | str | None
    dump_ir: Text | None
    stop_after: int | str | None
    start_at: int | str | None
    quiet: bool | None
    report: Text | None


class CompileOptions(SharedOptions, total=False):
    dtype: Literal["f32", "bf16", "f16"] | None
    html: Text | None
    emit: Literal["onnx"] | None
    schedule_svg: Text | None
    trace: Text | None
    pack_weights: bool | None


class VerifyOptions(SharedOptions, total=False):
    dtype: Texts | None
    run: bool | None


class ExplainOptions(SharedOptions, total=False):
    dtype: Literal["f32", "bf16", "f16"] | None
    html: Text | None
    verbose: bool | None
    top: int | None


class RunOptions(TypedDict, total=False):
    output: Text | None
    random_inputs: int | None
    weights: Text | None
    check_weights: bool | None
    data: Text | None
    tokens: Literal["u16", "u32"] | None
    steps: int | None
    log_every: Text | None
    check_finite: bool | None
    save: Text | None
    save_every: int | None
    save_in_background: bool | None
    metrics: Text | None
    peak_flops: float | None
    no_graph: bool | None
    share_gpu: bool | None
    threads: int | None
    report: Text | None
    format: Literal["table", "csv", "md", "json"] | None
    schedule_svg: Text | None
    trace: Text | None
    measurements: Text | None
    repeat: int | None
    warmup: int | None
    timeout: float | None
    load_timeout: float | None
    quiet: bool | None
