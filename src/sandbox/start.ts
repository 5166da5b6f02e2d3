import { addressOf } from './core/allowed-host.ts';
import type { FaultRuleInput } from './faults/rule.ts';
import { createServer } from './server.ts';
import { describeCallTruth, type CallTruth } from './core/telephony/call-truth.ts';
import { openService } from './persistence/kept-service.ts';
import { describePortHolder } from './port-holder.ts';
import { resolveSettings, type SandboxOptions, SandboxStartError } from './core/settings/settings.ts';

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts the service. Throws `SandboxStartError` or `FaultRuleError`. */
export async function startSandbox(options: SandboxOptions = {}) {
  const settings = resolveSettings(options);
  const { service, installed: app, closeFile } = await openService(settings, options, createServer);
  const { clock } = service;
  let port: number;
  try {
    port = await listen(app, settings.host, settings.port);
  } catch (error) {
    closeFile();
    service.close();
    throw error;
  }
  settings.outbound.ownPort = port;
  service.baseUrl = addressOf(settings.host, port);
  const ownClock = () => {
    if (service.clockMover.clock === null) throw new Error('This sandbox runs on a clock that was handed in; move that one.');
    return service.clockMover.clock;
  };
  return {
    url: service.baseUrl,
    port,
    clock,
    gates: service.gates,
    /** State file; null: in memory only. */
    dataFile: settings.data,
    agents: [...service.state.agents.values()],
    phoneNumbers: [...service.state.numbers.values()],
    calls: (): CallTruth[] => {
      service.scheduler.runDue();
      return service.state.calls.map((call) => describeCallTruth(settings.seed, call, clock.now()));
    },
    conduct: () => service.conduct.report(),
    journal: (since = 0) => service.journal.since(since).entries,
    /** Throws `FaultRuleError`. */
    addFaults: (rules: FaultRuleInput | FaultRuleInput[]) => service.faults.add(rules),
    /** Moves service time forward, running everything due. Throws with a custom clock. */
    advance: async (ms: number): Promise<void> => {
      await service.clockMover.move(ownClock(), (now) => now + ms);
    },
    /** Sets service seconds per real second. Throws with a custom clock. */
    setSpeed: (speed: number): void => {
      ownClock().setSpeed(speed);
      service.clockMover.announce();
    },
    reset: () => service.reset(),
    /** Stops at once: cuts connections and clears timers. */
    close: async (): Promise<void> => {
      closeFile();
      service.close();
      await app.close();
    },
  };
}

async function listen(app: ReturnType<typeof createServer>, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw new SandboxStartError(await describeListenError(error, host, port), { cause: error });
  }
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new SandboxStartError('The sandbox has no port to be reached at.');
  return address.port;
}

async function describeListenError(error: unknown, host: string, port: number): Promise<string> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use by ${await describePortHolder(host, port)}. Choose another, or --port 0 for any free one.`;
  if (code === 'EACCES') return `Port ${port} on ${host} may not be used without privileges. Choose one above 1023, or --port 0.`;
  return `The sandbox cannot listen on ${host}:${port} (${code}).`;
}
