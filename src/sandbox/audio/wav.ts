import type { Sound } from '../core/audio-format.ts';

export const wavHeaderBytes = 44;

/** The head of a WAV file of 16-bit PCM. */
export function wavHeader(channels: number, rate: number, dataBytes: number): Buffer {
  const header = Buffer.alloc(wavHeaderBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(wavHeaderBytes - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Reads a WAV file of one channel of 16-bit PCM with a plain 44-byte head. */
export function readMonoWav(wav: Buffer): Sound {
  const samples = new Int16Array(Math.max(0, (wav.length - wavHeaderBytes) >> 1));
  for (let index = 0; index < samples.length; index += 1) samples[index] = wav.readInt16LE(wavHeaderBytes + index * 2);
  return { samples, rate: wav.readUInt32LE(24) };
}
