const bias = 0x84;
const loudest = 32_635;

/** G.711 µ-law, one byte per sample. */
export function encodeMuLaw(samples: Int16Array): Buffer {
  const encoded = Buffer.alloc(samples.length);
  for (let index = 0; index < samples.length; index += 1) encoded[index] = encodeSample(samples[index] ?? 0);
  return encoded;
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(loudest, Math.abs(sample)) + bias;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}
