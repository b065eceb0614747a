"""Models of transformers and timm that are well: made, trained for a step, and asked to generate where they can.

Each is a small model of random weights. None of its lines may raise an alarm.
"""

import dataclasses
import textwrap

TRANSFORMERS = "transformers.models."


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    modules: tuple  # whose lines are recorded
    make: str  # statements that make `model` and `inputs`; the output has `loss`, or `loss` is made by `finish`
    generate: str = ""
    finish: str = "loss = model(**inputs).loss"

    def program(self):
        return PROGRAM.format(
            make=textwrap.dedent(self.make).strip(), finish=self.finish, generate=self.generate
        )


PROGRAM = """\
import model_setup
import torch
{make}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.train()
for step in range(2):
    optimizer.zero_grad()
    {finish}
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
assert loss.isfinite() and norm.isfinite()
model.eval()
{generate}
"""

GENERATE = "tokens = model.generate(inputs['input_ids'][:, :4], max_new_tokens=3, do_sample=False)"
SAMPLE = "tokens = model.generate(inputs['input_ids'][:, :4], max_new_tokens=3, do_sample=True, top_k=5, top_p=0.9)"
COMMON = "vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4"
ROTARY = COMMON + ", num_key_value_heads=2, intermediate_size=48"
ENCODER = COMMON + ", intermediate_size=48, max_position_embeddings=40"


def language(folder, class_name, settings, config="", more=(), generate=GENERATE):
    """A model of the next token."""
    config = config or class_name.replace("ForCausalLM", "Config").replace("LMHeadModel", "Config")
    return Model(
        folder,
        (f"{TRANSFORMERS}{folder}.modeling_{folder}", *more),
        f"""
from transformers import {config}, {class_name}
model = {class_name}({config}({settings}))
ids = torch.randint(3, 60, (2, 8))
inputs = dict(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids)
""",
        generate,
    )


def masked(folder, class_name, settings):
    """A model of tokens that are masked."""
    config = class_name.replace("ForMaskedLM", "Config")
    return Model(
        folder,
        (f"{TRANSFORMERS}{folder}.modeling_{folder}",),
        f"""
from transformers import {config}, {class_name}
model = {class_name}({config}({settings}))
ids = torch.randint(3, 60, (2, 8))
mask = torch.ones_like(ids)
mask[1, 5:] = 0
inputs = dict(input_ids=ids, attention_mask=mask, labels=ids.masked_fill(mask == 0, -100))
""",
    )


def images(folder, class_name, settings, size=32):
    """A model of pictures."""
    config = class_name.replace("ForImageClassification", "Config")
    return Model(
        folder + "_images",
        (f"{TRANSFORMERS}{folder}.modeling_{folder}",),
        f"""
from transformers import {config}, {class_name}
model = {class_name}({config}({settings}, num_labels=5))
inputs = dict(pixel_values=torch.randn(2, 3, {size}, {size}), labels=torch.tensor([1, 3]))
""",
    )


def timm(name, module, settings="", size=64, more=()):
    return Model(
        "timm_" + name,
        ("timm.models." + module, *more),
        f"""
import timm
model = timm.create_model("{name}", num_classes=5{settings})
pixels, labels = torch.randn(2, 3, {size}, {size}), torch.tensor([1, 3])
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
""",
        generate="scores = model(pixels).softmax(-1)",
        finish="loss = criterion(model(pixels), labels)",
    )


MODELS = [
    masked("bert", "BertForMaskedLM", ENCODER),
    masked("distilbert", "DistilBertForMaskedLM", "vocab_size=60, dim=32, n_layers=2, n_heads=4, hidden_dim=48"),
    masked("deberta_v2", "DebertaV2ForMaskedLM", ENCODER + ", relative_attention=True, pos_att_type=['p2c', 'c2p']"),
    masked("electra", "ElectraForMaskedLM", ENCODER + ", embedding_size=16"),
    language("gpt2", "GPT2LMHeadModel", "vocab_size=60, n_embd=32, n_layer=2, n_head=4, n_positions=40", generate=SAMPLE),
    language("llama", "LlamaForCausalLM", ROTARY),
    language("mistral", "MistralForCausalLM", ROTARY + ", sliding_window=4", generate=SAMPLE),
    language("mixtral", "MixtralForCausalLM", ROTARY + ", num_local_experts=4, output_router_logits=True"),
    language("qwen2", "Qwen2ForCausalLM", ROTARY + ", attn_implementation='eager'"),
    language("gemma2", "Gemma2ForCausalLM", ROTARY + ", head_dim=8, attn_implementation='eager'"),
    language("opt", "OPTForCausalLM", "vocab_size=60, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=40, word_embed_proj_dim=32"),
    language("gpt_neox", "GPTNeoXForCausalLM", ENCODER),
    language("phi3", "Phi3ForCausalLM", ROTARY + ", pad_token_id=0"),
    language("rwkv", "RwkvForCausalLM", "vocab_size=60, hidden_size=32, num_hidden_layers=2, attention_hidden_size=32, intermediate_size=48, context_length=40"),
    Model(
        "t5",
        (TRANSFORMERS + "t5.modeling_t5",),
        """
from transformers import T5Config, T5ForConditionalGeneration
model = T5ForConditionalGeneration(
    T5Config(vocab_size=60, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0)
)
ids = torch.randint(3, 60, (2, 8))
inputs = dict(input_ids=ids, labels=ids[:, :5].clone())
""",
        "tokens = model.generate(inputs['input_ids'], max_new_tokens=3, num_beams=2)",
    ),
    Model(
        "bart",
        (TRANSFORMERS + "bart.modeling_bart",),
        """
from transformers import BartConfig, BartForConditionalGeneration
model = BartForConditionalGeneration(BartConfig(
    vocab_size=60, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=40,
))
ids = torch.randint(3, 60, (2, 8))
inputs = dict(input_ids=ids, labels=ids[:, :5].clone())
""",
        "tokens = model.generate(inputs['input_ids'], max_new_tokens=3, num_beams=2)",
    ),
    Model(
        "whisper",
        (TRANSFORMERS + "whisper.modeling_whisper",),
        """
from transformers import WhisperConfig, WhisperForConditionalGeneration
model = WhisperForConditionalGeneration(WhisperConfig(
    vocab_size=60, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
    encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8, max_source_positions=20, max_target_positions=20,
    pad_token_id=1, bos_token_id=2, eos_token_id=3, decoder_start_token_id=2, suppress_tokens=None,
    begin_suppress_tokens=None,
))
features = torch.randn(2, 8, 40)
inputs = dict(input_features=features, labels=torch.randint(4, 60, (2, 5)))
""",
    ),
    Model(
        "clip",
        (TRANSFORMERS + "clip.modeling_clip",),
        """
from transformers import CLIPConfig, CLIPModel
text = dict(vocab_size=60, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
vision = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8)
model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8))
inputs = dict(input_ids=torch.randint(1, 60, (2, 6)), pixel_values=torch.randn(2, 3, 16, 16), return_loss=True)
""",
    ),
    Model(
        "wav2vec2",
        (TRANSFORMERS + "wav2vec2.modeling_wav2vec2",),
        """
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC
model = Wav2Vec2ForCTC(Wav2Vec2Config(
    vocab_size=12, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, conv_dim=(8, 8),
    conv_stride=(4, 4), conv_kernel=(8, 4), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
    ctc_loss_reduction="mean", mask_time_length=2,
))
inputs = dict(input_values=torch.randn(2, 800), labels=torch.randint(1, 12, (2, 4)))
""",
    ),
    images("vit", "ViTForImageClassification", "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8"),
    images("convnext", "ConvNextForImageClassification", "hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1]", 64),
    images("segformer", "SegformerForImageClassification", "hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16", 64),
    timm("resnet18", "resnet"),
    timm("vit_tiny_patch16_224", "vision_transformer", ", img_size=64, depth=2", more=("timm.layers.attention", "timm.layers.mlp")),
    timm("convnextv2_atto", "convnext", ", drop_path_rate=0.2", more=("timm.layers.grn", "timm.layers.drop")),
    timm("mobilenetv3_small_050", "mobilenetv3", more=("timm.models._efficientnet_blocks",)),
    timm("swin_tiny_patch4_window7_224", "swin_transformer", ", img_size=56, depths=(2, 2, 1, 1), embed_dim=24", 56),
    timm("mixer_s32_224", "mlp_mixer", "", 224, more=("timm.layers.mlp",)),
    language("deepseek_v3", "DeepseekV3ForCausalLM", "vocab_size=60, hidden_size=32, intermediate_size=48, moe_intermediate_size=16, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4, n_routed_experts=4, n_group=2, topk_group=1, num_experts_per_tok=2, first_k_dense_replace=1, kv_lora_rank=8, q_lora_rank=8, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8"),
    language("mamba", "MambaForCausalLM", "vocab_size=60, hidden_size=16, state_size=4, num_hidden_layers=2"),
    language("bloom", "BloomForCausalLM", "vocab_size=60, hidden_size=32, n_layer=2, n_head=4"),
    language("qwen3_moe", "Qwen3MoeForCausalLM", ROTARY + ", head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16", config="Qwen3MoeConfig"),
    masked("albert", "AlbertForMaskedLM", ENCODER + ", embedding_size=16"),
    images("swin", "SwinForImageClassification", "image_size=32, patch_size=4, embed_dim=8, depths=[2, 1], num_heads=[2, 2], window_size=4"),
    timm("levit_128s", "levit", size=224),
    timm("efficientnet_b0", "efficientnet", more=("timm.models._efficientnet_blocks", "timm.layers.drop")),
]
