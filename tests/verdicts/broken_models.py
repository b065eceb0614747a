"""NaNs and infinities in models of transformers and timm, each with the line and the cause that are right.

A case is a program with a small model of random weights. What is wrong is in its configuration, weights, input, loss, or
in the model's own file: then `patch` says what is replaced in a copy of the installed file, which lies beside the program and
is imported in its place. Expectations were written before anything was run.
"""

import dataclasses
import pathlib
import re
import sys

from tests.support import paths

PROGRAM = "program.py"


def folder_of_packages():
    """Where transformers and timm are: what `make test-all` installs, or with the interpreter; None where they are not."""
    for folder in (paths.BUILD / "models", *map(pathlib.Path, sys.path)):
        if all((folder / name / "__init__.py").is_file() for name in ("transformers", "timm")):
            return folder.resolve()
    return None


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    model: str  # the module whose lines are recorded, besides the program
    program: str
    line: str  # the line that must be named first, as it stands in `file`
    words: str  # an expression that matches what is said of it
    function: str = ""  # in which the line stands, where it stands in several
    file: str = ""  # PROGRAM, or a module; without it `model`
    more: tuple = ()  # other modules that are recorded
    patch: tuple = ()  # (what is replaced in the model's file, by what)
    open: str = ""  # what is not right yet

    @property
    def where(self):
        return self.file or self.model


def installed(module):
    """The path of a module's file, found without importing it."""
    return folder_of_packages().joinpath(*module.split(".")).with_suffix(".py")


def copied(module, patch):
    """The text of a patched copy of a module, which is not in its package any more."""
    text = installed(module).read_text()
    for old, new in patch:
        assert text.count(old) >= 1, f"{module}: {old!r} is not there"
        text = text.replace(old, new)
    package = module.split(".")[:-1]

    def absolute(found):
        dots = len(found[1])
        return (
            "from "
            + ".".join([*package[: len(package) - dots + 1], *filter(None, [found[2]])])
            + " "
        )

    return re.sub(r"^from (\.+)([\w.]*) ", absolute, text, flags=re.MULTILINE)


def selection(modules):
    return [word for module in modules for word in ("--include", module)]


def write(case, folder):
    """The program and what lies beside it; returns the options of `run` that select what is recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    program = "import model_setup\n" + case.program.lstrip("\n")
    modules = ["__main__", *case.more]
    name = case.model.rpartition(".")[2]
    if case.patch:
        (folder / f"{name}.py").write_text(copied(case.model, case.patch))
        modules.append(name)
    else:
        modules.append(case.model)
    program = program.replace("MODEL", name if case.patch else case.model)
    (folder / PROGRAM).write_text(program)
    return selection(modules)


def expected(case, folder):
    """(the file's name, the line's number) that `why` must name."""
    if case.where == PROGRAM:
        path = folder / PROGRAM
    elif case.where == case.model and case.patch:
        path = folder / f"{case.model.rpartition('.')[2]}.py"
    else:
        path = installed(case.where)
    lines = path.read_text().splitlines()
    found = [n for n, line in enumerate(lines, 1) if line.strip() == case.line.strip()]
    if case.function:
        scope = case.function
        begin = next(
            n for n, line in enumerate(lines, 1) if re.match(rf"(class|def) {scope}\b", line)
        )
        end = next(
            (
                n
                for n, line in enumerate(lines[begin:], begin + 1)
                if re.match(r"class |def |@", line)
            ),
            len(lines) + 1,
        )
        found = [n for n in found if begin < n < end]
    assert len(found) == 1, (case.name, case.line, found)
    return pathlib.Path(path).name, found[0]


TRANSFORMERS = "transformers.models."

CASES = [
    Case(
        "bert_layer_norm_without_eps",
        TRANSFORMERS + "bert.modeling_bert",
        """
import torch
from transformers import BertConfig
from MODEL import BertModel

config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
    layer_norm_eps=0.0,
)
model = BertModel(config).eval()
with torch.no_grad():
    model.embeddings.word_embeddings.weight[0] = 0
    model.embeddings.position_embeddings.weight.zero_()
    model.embeddings.token_type_embeddings.weight.zero_()
ids = torch.tensor([[5, 6, 7, 0, 0], [8, 9, 1, 2, 3]])
out = model(ids).last_hidden_state
""",
        "embeddings = self.LayerNorm(embeddings)",
        r"NaN made here: embeddings: .*(LayerNorm|layer norm|variance)",
    ),
    Case(
        "gpt2_scores_beyond_float16",
        TRANSFORMERS + "gpt2.modeling_gpt2",
        """
import torch
from transformers import GPT2Config
from MODEL import GPT2LMHeadModel

config = GPT2Config(vocab_size=60, n_embd=32, n_layer=2, n_head=2, n_positions=32, attn_implementation="eager")
model = GPT2LMHeadModel(config).eval()
with torch.no_grad():
    model.transformer.h[1].attn.c_attn.weight.mul_(4000.0)
model = model.half()
ids = torch.randint(0, 60, (2, 9))
logits = model(ids).logits
""",
        "attn_weights = torch.matmul(query, key.transpose(-1, -2)) * scaling",
        r"(Inf|-Inf) made here: attn_weights: overflow of float16",
    ),
    Case(
        "llama_row_of_the_mask",
        TRANSFORMERS + "llama.modeling_llama",
        """
import torch
from transformers import LlamaConfig
from MODEL import LlamaModel

config = LlamaConfig(
    vocab_size=60, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, attn_implementation="eager",
)
model = LlamaModel(config).eval()
ids = torch.randint(0, 60, (2, 6))
allowed = torch.ones(2, 1, 6, 6, dtype=torch.bool).tril()
allowed[1, :, :2] = False
mask = torch.zeros(2, 1, 6, 6).masked_fill(~allowed, float("-inf"))
hidden = model(ids, attention_mask=mask).last_hidden_state
""",
        "attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)",
        r"NaN made here: attn_weights: softmax of a row that is -Inf everywhere",
    ),
    Case(
        "mixtral_routes_by_relu",
        TRANSFORMERS + "mixtral.modeling_mixtral",
        """
import torch
from transformers import MixtralConfig
from MODEL import MixtralForCausalLM

config = MixtralConfig(
    vocab_size=60, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2,
)
model = MixtralForCausalLM(config)
with torch.no_grad():
    model.model.layers[1].mlp.gate.weight.zero_()
ids = torch.randint(0, 60, (2, 6))
loss = model(ids, labels=ids).loss
""",
        "router_top_value /= router_top_value.sum(dim=-1, keepdim=True)",
        r"NaN made here: router_top_value: (0/0|.*division by zero)",
        patch=(
            (
                "torch.nn.functional.softmax(router_logits.float(), dim=-1)",
                "torch.relu(router_logits.float())",
            ),
        ),
    ),
    Case(
        "mamba_steps_underflow",
        TRANSFORMERS + "mamba.modeling_mamba",
        """
import torch
from transformers import MambaConfig
from MODEL import MambaForCausalLM

config = MambaConfig(
    vocab_size=60, hidden_size=16, state_size=4, num_hidden_layers=2, time_step_min=1e-50, time_step_max=1e-48,
    time_step_floor=0.0,
)
model = MambaForCausalLM(config).eval()
logits = model(torch.randint(0, 60, (2, 6))).logits
""",
        "inv_dt = dt + torch.log(-torch.expm1(-dt))",
        r"-Inf made here: inv_dt: .*log of 0",
    ),
    Case(
        "wav2vec2_of_silence",
        TRANSFORMERS + "wav2vec2.modeling_wav2vec2",
        """
import torch
from transformers import Wav2Vec2Config
from MODEL import Wav2Vec2Model

config = Wav2Vec2Config(
    hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, conv_dim=(8, 8),
    conv_stride=(4, 4), conv_kernel=(8, 4), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
)
model = Wav2Vec2Model(config).eval()
wave = torch.randn(2, 800)
wave[1] = 0
centred = wave - wave.mean(-1, keepdim=True)
deviation = wave.std(-1, keepdim=True)
values = centred / deviation
hidden = model(values).last_hidden_state
""",
        "values = centred / deviation",
        r"NaN made here: values: (0/0|.*division by zero)",
        file=PROGRAM,
    ),
    Case(
        "clip_scale_too_large",
        TRANSFORMERS + "clip.modeling_clip",
        """
import torch
from transformers import CLIPConfig
from MODEL import CLIPModel

text = dict(vocab_size=60, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
vision = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8)
model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)).eval()
with torch.no_grad():
    model.logit_scale.fill_(100.0)
ids = torch.randint(1, 60, (2, 6))
out = model(input_ids=ids, pixel_values=torch.randn(2, 3, 16, 16), return_loss=True)
loss = out.loss
""",
        "logits_per_text = logits_per_text * self.logit_scale.exp().to(text_embeds.device)",
        r"made here: logits_per_text: .*exp overflows",
    ),
    Case(
        "vit_log_of_a_probability",
        "timm.models.vision_transformer",
        """
import torch
from MODEL import VisionTransformer

model = VisionTransformer(img_size=16, patch_size=8, embed_dim=16, depth=2, num_heads=2, num_classes=5)
with torch.no_grad():
    model.head.weight.normal_(std=1e4)
images = torch.randn(3, 3, 16, 16)
target = torch.eye(5)[torch.tensor([0, 1, 2])]
logits = model(images)
probabilities = logits.softmax(-1)
logs = torch.log(probabilities)
loss = -(target * logs).sum(-1).mean()
loss.backward()
""",
        "logs = torch.log(probabilities)",
        r"-Inf made here: logs: log of 0",
        file=PROGRAM,
    ),
    Case(
        "vit_checkpoint_in_half",
        "timm.models.vision_transformer",
        """
import torch
from MODEL import VisionTransformer

model = VisionTransformer(img_size=16, patch_size=8, embed_dim=16, depth=2, num_heads=2, num_classes=5, init_values=1e6)
state = model.state_dict()
for name in state:
    stored = state[name].half()
    state[name] = stored.float()
model.load_state_dict(state)
logits = model.eval()(torch.randn(3, 3, 16, 16))
""",
        "stored = state[name].half()",
        r"Inf made here: stored: overflow of float16",
        file=PROGRAM,
        more=("timm.layers.layer_scale", "timm.layers.attention"),
    ),
    Case(
        "bert_two_masks_in_half",
        TRANSFORMERS + "bert.modeling_bert",
        """
import torch
from transformers import BertConfig
from MODEL import BertModel

config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
    attn_implementation="eager",
)
model = BertModel(config).eval().half()
ids = torch.randint(1, 50, (2, 5))
mask = torch.zeros(2, 1, 5, 5, dtype=torch.float16)
mask[1, :, 3:] = torch.finfo(torch.float16).min
out = model(ids, attention_mask=mask).last_hidden_state
""",
        # The two masks' minima are meant, and so is the -Inf of their sum; the row of nothing else is not.
        "attn_weights = nn.functional.softmax(attn_weights, dim=-1)",
        r"NaN made here: attn_weights: softmax of a row that is -Inf everywhere",
        function="eager_attention_forward",
        patch=(
            (
                "attn_weights = attn_weights + attention_mask",
                "attn_weights = attn_weights + (attention_mask + attention_mask)",
            ),
        ),
    ),
    Case(
        "whisper_power_of_a_worker",
        TRANSFORMERS + "whisper.modeling_whisper",
        """
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import WhisperConfig
from MODEL import WhisperModel


class Sounds(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        power = torch.rand(8, 40, generator=torch.Generator().manual_seed(index))
        if index == 2:
            power[:, 30:] = 0
        features = torch.log10(power)
        return features


def main():
    config = WhisperConfig(
        vocab_size=60, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8, max_source_positions=20,
        max_target_positions=20, pad_token_id=1, bos_token_id=2, eos_token_id=3, decoder_start_token_id=2,
    )
    model = WhisperModel(config).eval()
    for features in DataLoader(Sounds(), batch_size=2, num_workers=1):
        hidden = model(features, decoder_input_ids=torch.tensor([[2, 5], [2, 6]])).last_hidden_state


main()
""",
        "features = torch.log10(power)",
        r"-Inf made here: features: .*log.* of 0",
        file=PROGRAM,
    ),
    Case(
        "qwen2_without_a_base",
        TRANSFORMERS + "qwen2.modeling_qwen2",
        """
import torch
from transformers import Qwen2Config
from MODEL import Qwen2Model

config = Qwen2Config(
    vocab_size=60, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, rope_parameters={"rope_type": "default", "rope_theta": 0.0},
)
model = Qwen2Model(config).eval()
hidden = model(torch.randint(0, 60, (2, 6))).last_hidden_state
""",
        "inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float) / dim))",
        r"Inf made here: inv_freq: (?!.*arange\(0, dim, 2, dtype=torch.float\)`; or).*division by zero",
    ),
    Case(
        "resnet_negative_variance",
        "timm.models.resnet",
        """
import torch
from MODEL import BasicBlock, ResNet

model = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=5, stem_width=8, channels=(8, 8, 8, 8)).eval()
with torch.no_grad():
    model.layer2[0].bn1.running_var.fill_(-1.0)
logits = model(torch.randn(2, 3, 32, 32))
""",
        "x = self.bn1(x)",
        r"NaN made here: x: .*(bn1|running_var|variance)",
        function="BasicBlock",
    ),
    Case(
        "gpt2_weights_after_a_step",
        TRANSFORMERS + "gpt2.modeling_gpt2",
        """
import torch
from transformers import GPT2Config
from MODEL import GPT2LMHeadModel

config = GPT2Config(vocab_size=60, n_embd=32, n_layer=2, n_head=2, n_positions=32)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.SGD(model.parameters(), lr=3e38)
ids = torch.arange(18).view(2, 9)
for step in range(2):
    optimizer.zero_grad()
    loss = model(ids, labels=ids).loss * 1e6
    loss.backward()
    optimizer.step()
""",
        "inputs_embeds = self.wte(input_ids)",
        r"(?!.*made here).*(weight|parameter)",
    ),
    Case(
        "t5_norm_without_eps",
        TRANSFORMERS + "t5.modeling_t5",
        """
import torch
from transformers import T5Config
from MODEL import T5EncoderModel

config = T5Config(
    vocab_size=60, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, layer_norm_epsilon=0.0, decoder_start_token_id=0
)
model = T5EncoderModel(config).eval()
with torch.no_grad():
    model.shared.weight[0] = 0
hidden = model(torch.tensor([[4, 5, 6, 0, 0]])).last_hidden_state
""",
        "hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)",
        r"NaN made here: hidden_states: (?!.*negative).*(rsqrt of 0|rsqrt|0 \* Inf)",
    ),
    Case(
        "clip_vector_without_length",
        TRANSFORMERS + "clip.modeling_clip",
        """
import torch
from transformers import CLIPConfig
from MODEL import CLIPModel

text = dict(vocab_size=60, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
vision = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8)
model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)).eval()
with torch.no_grad():
    model.text_projection.weight.zero_()
out = model(input_ids=torch.randint(1, 60, (2, 6)), pixel_values=torch.randn(2, 3, 16, 16))
scores = out.logits_per_image
""",
        "text_embeds = text_embeds / _get_vector_norm(text_embeds)",
        r"NaN made here: text_embeds: (0/0|.*division by zero)",
    ),
    Case(
        "convnext_response_of_nothing",
        "timm.models.convnext",
        """
import torch
from MODEL import ConvNeXt

model = ConvNeXt(depths=(1, 1, 1, 1), dims=(8, 8, 8, 8), num_classes=5, use_grn=True, ls_init_value=None).eval()
block = model.stages[1].blocks[0]
with torch.no_grad():
    block.mlp.fc1.weight.zero_()
    block.mlp.fc1.bias.zero_()
block.mlp.grn.eps = 0.0
logits = model(torch.randn(2, 3, 64, 64))
""",
        "x_n = x_g / (x_g.mean(dim=self.channel_dim, keepdim=True) + self.eps)",
        r"NaN made here: x_n: (0/0|.*division by zero)",
        file="timm.layers.grn",
        more=("timm.layers.grn", "timm.layers.mlp"),
    ),
    Case(
        "gemma2_cap_of_zero",
        TRANSFORMERS + "gemma2.modeling_gemma2",
        """
import torch
from transformers import Gemma2Config
from MODEL import Gemma2ForCausalLM

config = Gemma2Config(
    vocab_size=60, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, head_dim=8, attn_logit_softcapping=0.0, attn_implementation="eager",
)
model = Gemma2ForCausalLM(config).eval()
logits = model(torch.randint(0, 60, (2, 6))).logits
""",
        "attn_weights = attn_weights / softcap",
        r"made here: attn_weights: .*division by zero",
    ),
    Case(
        "bert_nothing_to_predict",
        TRANSFORMERS + "bert.modeling_bert",
        """
import torch
from transformers import BertConfig
from MODEL import BertForMaskedLM

config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
model = BertForMaskedLM(config)
ids = torch.randint(1, 50, (2, 5))
loss = model(ids, labels=torch.full_like(ids, -100)).loss
loss.backward()
""",
        "masked_lm_loss = loss_fct(prediction_scores.view(-1, self.config.vocab_size), labels.view(-1))",
        r"NaN made here: masked_lm_loss: .*(ignored|-100|mean of nothing)",
        function="BertForMaskedLM",
    ),
    Case(
        "mixer_in_half",
        "timm.models.mlp_mixer",
        """
import torch
from MODEL import MlpMixer

model = MlpMixer(img_size=16, patch_size=8, embed_dim=16, num_blocks=2, num_classes=5).eval()
with torch.no_grad():
    model.blocks[1].mlp_channels.fc1.weight.normal_(std=9000.0)
model.half()
logits = model(torch.randn(2, 3, 16, 16).half())
""",
        "x = self.fc1(x)",
        r"made here: x: .*(overflow of float16|fc1)",
        function="Mlp",
        file="timm.layers.mlp",
        more=("timm.layers.mlp",),
    ),
]
