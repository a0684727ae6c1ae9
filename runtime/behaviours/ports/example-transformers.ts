/** A voice and a poster that clients are tested with: a tone for each word, until a voice of yours takes its place. */
import { formatFromId } from "./example-formats.js";
import type { RenderedCreative, RenderJob, Transformer, TransformerOption, TransformersPort } from "./transformers.js";

const voiceover: Transformer = {
  transformer_id: "audiostack_voiceover",
  name: "Voiceover",
  description: "Reads a script aloud, in the voice of your choice.",
  metadata: { modality: "audio", languages: ["en-US", "es-ES"], purpose: "voiceover narration spot" },
  outputs: ["audio_vo"],
  params: [
    {
      field: "voice",
      type: "string",
      value_source: "enumerable",
      default: "sara",
      description: "Whose voice reads it; voices of your own are among them.",
    },
    {
      field: "mastering_preset",
      type: "string",
      value_source: "inline",
      allowed_values: ["broadcast", "podcast", "music"],
      default: "broadcast",
      description: "How the mix is mastered.",
    },
    {
      field: "speaking_rate",
      type: "number",
      value_source: "range",
      minimum: 0.5,
      maximum: 2,
      default: 1,
      description: "How fast it is read; 1 is the voice's own pace.",
    },
  ],
  price: { pricing_option_id: "voiceover_render", unit: "render", unit_price: 2.5, currency: "USD" },
};

const poster: Transformer = {
  transformer_id: "poster_display",
  name: "Poster",
  description: "Sets a sentence as a still display image.",
  metadata: { modality: "image", purpose: "display banner poster" },
  outputs: ["display_poster_300x250"],
  params: [
    {
      field: "theme",
      type: "string",
      value_source: "inline",
      allowed_values: ["day", "night"],
      default: "day",
      description: "Dark on light, or light on dark.",
    },
    {
      field: "avoid",
      type: "string",
      value_source: "free_text",
      max_length: 500,
      description: "What must not be said.",
    },
  ],
  price: { pricing_option_id: "poster_image", unit: "image", unit_price: 0.4, currency: "USD" },
};

const voices: readonly TransformerOption[] = [
  { value: "sara", label: "Sara", metadata: { language: "es-ES", gender: "female", tone: "warm" } },
  { value: "isaac", label: "Isaac", metadata: { language: "en-US", gender: "male", tone: "calm" } },
];

const RATE_HZ = 8_000;
/** Of a tone for a word, and of the whole, in seconds: enough to hear that two differ. */
const WORD_S = 0.12;
const LONGEST_S = 4;

/** A WAV file of 16-bit samples. */
function tones(words: number, pace: number, pitch: number): Uint8Array {
  const seconds = Math.min(Math.max(words, 1) * (WORD_S / pace), LONGEST_S);
  const count = Math.floor(seconds * RATE_HZ);
  const bytes = new DataView(new ArrayBuffer(44 + count * 2));
  const text = (at: number, value: string): void =>
    [...value].forEach((char, index) => {
      bytes.setUint8(at + index, char.charCodeAt(0));
    });
  text(0, "RIFF");
  bytes.setUint32(4, 36 + count * 2, true);
  text(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, RATE_HZ, true);
  bytes.setUint32(28, RATE_HZ * 2, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  text(36, "data");
  bytes.setUint32(40, count * 2, true);
  for (let at = 0; at < count; at++) {
    const gap = (at / RATE_HZ) % (WORD_S / pace) > (WORD_S / pace) * 0.8;
    const sample = gap ? 0 : Math.sin((2 * Math.PI * pitch * at) / RATE_HZ) * 8_000;
    bytes.setInt16(44 + at * 2, Math.round(sample), true);
  }
  return new Uint8Array(bytes.buffer);
}

function read({ message, config }: RenderJob): RenderedCreative {
  const pace = Number(config.speaking_rate ?? 1);
  const body = tones(message.split(/\s+/).length, pace, config.voice === "isaac" ? 140 : 220);
  const duration_ms = Math.round(((body.length - 44) / 2 / RATE_HZ) * 1_000);
  const asset = { asset_type: "audio", duration_ms, container_format: "wav", codec: "pcm", sampling_rate_hz: RATE_HZ };
  return { files: { audio: { type: "audio/wav", body, asset } } };
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

function set({ message, config }: RenderJob): RenderedCreative {
  const [paper, ink] = config.theme === "night" ? ["#10161f", "#f4f1ea"] : ["#f4f1ea", "#10161f"];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250"><rect width="100%" height="100%" fill="${paper}"/><text x="50%" y="50%" text-anchor="middle" font-family="serif" font-size="18" fill="${ink}">${escaped(message.slice(0, 60))}</text></svg>`;
  const asset = { asset_type: "image", width: 300, height: 250, format: "svg", alt_text: message.slice(0, 60) };
  return { files: { image: { type: "image/svg+xml", body: new TextEncoder().encode(svg), asset } } };
}

/** Transformers of a made-up creative agent, to start from. */
export const exampleTransformers: TransformersPort = {
  transformers: async () => [voiceover, poster],
  formats: async () => [
    { ...formatFromId("audio_vo"), name: "Voiceover", description: "A script, read aloud." },
    {
      ...formatFromId("display_poster_300x250"),
      name: "Poster 300 x 250",
      description: "A sentence, set as an image.",
    },
  ],
  options: async ({ field }) => (field === "voice" ? voices : []),
  render: async (job) => (job.transformer.transformer_id === poster.transformer_id ? set(job) : read(job)),
};
