/** How audio travels (gaps A.9): little-endian 16-bit PCM at the rate of its name, or µ-law at 8 kHz; one channel. */
export const audioFormats = [
  'pcm_8000',
  'pcm_16000',
  'pcm_22050',
  'pcm_24000',
  'pcm_44100',
  'pcm_48000',
  'ulaw_8000',
] as const;

export type AudioFormat = (typeof audioFormats)[number];

export function rateOf(format: AudioFormat): number {
  return Number(format.slice(format.indexOf('_') + 1));
}
