import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addSandboxFlags, readSandboxFlags, type SandboxFlags } from '../../../src/cli/sandbox/flags.ts';
import { resolveSettings } from '../../../src/sandbox/core/settings/settings.ts';

const parse = (...flags: string[]): SandboxFlags =>
  addSandboxFlags(new Command(), '4010').parse(flags, { from: 'user' }).opts();

test('the flags say which hosts may be connected to and how models are asked', async () => {
  const flags = ['--allow-outbound', 'a.example', '--allow-outbound', 'b.example:8443'];
  expect(await readSandboxFlags(parse(...flags, '--no-model-stream', '--model-latency', 'drawn'))).toMatchObject({
    allowOutbound: ['a.example', 'b.example:8443'],
    modelStream: false,
    modelLatency: 'drawn',
  });
  const plain = resolveSettings(await readSandboxFlags(parse()));
  expect(plain).toMatchObject({ outbound: { hosts: [] }, modelStream: true, modelLatency: 'measured' });
});

test('a latency that is not known is refused', async () => {
  await expect(readSandboxFlags(parse('--model-latency', 'fast'))).rejects.toThrow(
    '--model-latency is "fast"; it must be measured or drawn.',
  );
});

test.each(['http://a.example', 'a.example/v1', 'key@a.example', ''])('"%s" is no host to allow', (host) => {
  expect(() => resolveSettings({ allowOutbound: [host] })).toThrow('allowOutbound');
});

test('a limit for models is a whole number', () => {
  expect(() => resolveSettings({ modelLimits: { idleMs: 0 } })).toThrow('modelLimits.idleMs is 0');
});
