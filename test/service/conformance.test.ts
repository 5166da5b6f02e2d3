import { onTestFinished } from 'vitest';
import { connectService } from '../../src/service/registry.ts';
import { plainNumbers, startTestSandbox } from '../sandbox/harness.ts';
import { freePort } from '../support/free-port.ts';
import { conform, type Subject } from './conformance.ts';
import { secondService, startSecondService } from './second-service.ts';

const faults = {
  limited: { type: 'rate_limited', seconds: 30 },
  'lost before': { type: 'reset', when: 'before' },
  'lost after': { type: 'reset', when: 'after' },
} as const;

async function contract(dialect: 'spec' | 'extended'): Promise<Subject> {
  const outcomeMix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
  const sandbox = await startTestSandbox({ dialect, outcomeMix });
  const connect = (baseUrl: string) => {
    const service = connectService({ baseUrl, apiKey: 'sk_sandbox_ok', retriesAfter429: { reads: 0 } });
    onTestFinished(() => service.close());
    return service;
  };
  return {
    service: connect(sandbox.url),
    unreachable: connect(`http://127.0.0.1:${await freePort()}`),
    agentId: 'agent_reminders',
    callerId: 'pn_main',
    numbers: plainNumbers(10),
    variablesKey: dialect === 'extended' ? 'variables' : null,
    meet: (fault) => void sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: faults[fault] }),
    async play() {
      sandbox.clock.advance(30 * 60_000);
      await sandbox.get('/v1/convai/agents');
    },
    called: () => sandbox.calls().map(({ to }) => to),
    now: () => sandbox.clock.now(),
  };
}

conform('the contract, with the fields that it promises', () => contract('spec'));
conform('the contract, with the fields that it may have', () => contract('extended'));

conform('a second service: state of each recipient, withdrawal, a mark to look up', async () => {
  const second = await startSecondService();
  const connect = (baseUrl: string) => {
    const service = secondService(baseUrl);
    onTestFinished(() => service.close());
    return service;
  };
  return {
    service: connect(second.url),
    unreachable: connect(`http://127.0.0.1:${await freePort()}`),
    agentId: 'second_agent',
    callerId: 'line_1',
    numbers: plainNumbers(10),
    variablesKey: null,
    meet: (fault) => void second.faults.push(fault),
    play: async () => second.play(),
    called: () => second.dialled,
    now: Date.now,
  };
});
