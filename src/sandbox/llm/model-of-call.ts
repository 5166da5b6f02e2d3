import type { ModelCaller } from './model-caller.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Call } from '../core/state/call.ts';
import type { BuiltInMind, ModelMind } from '../core/conversation/agent-mind.ts';
import { builtInMindOf } from '../core/conversation/built-in-agent.ts';
import { configOf } from '../core/conversation/call-config.ts';
import { createModelMind } from './model-mind.ts';
import type { OwnModel } from '../core/conversation/model-settings.ts';
import type { ToolRunner } from './model-tools.ts';
import { fillIn, variablesOf } from '../core/conversation/variables.ts';

export interface ModelLink {
  settings: SandboxSettings;
  caller: ModelCaller;
  /** Models of the service that give no answers now. */
  unavailableModels: ReadonlySet<string>;
  /** How tools are run where the conversation is held. */
  tools: ToolRunner;
  /** Aborted when nobody waits for the conversation any more. */
  signal: AbortSignal;
}

/** What speaks for the agent of one call through the model behind its own address, by phone or over a socket. */
export function modelMindOf(call: Call, model: OwnModel, link: ModelLink): ModelMind {
  const { settings, caller, tools, signal } = link;
  return createModelMind(
    { settings, caller, tools, standIn: () => standInFor(call, model, link.unavailableModels) },
    {
      conversationId: call.conversationId,
      config: configOf(call),
      model,
      // A client at a socket may tell more while the conversation goes on.
      get prompt() {
        return promptForModel(call);
      },
      userId: call.userId,
      extraBody: call.modelExtraBody,
      signal,
    },
  );
}

/** The first backup that is to be had, as which the built-in agent speaks. */
function standInFor(call: Call, model: OwnModel, unavailable: ReadonlySet<string>): BuiltInMind | null {
  const backupModelId = model.backupModelIds.find((id) => !unavailable.has(id));
  if (backupModelId === undefined || call.course === null) return null;
  return builtInMindOf({ ...call, course: { ...call.course, backupModelId } });
}

/** The prompt of a call as a model gets it: variables named `secret__…` stay unfilled, for no model is told them (gaps A.4). */
function promptForModel(call: Call): string {
  const prompt = fillIn(configOf(call).agent?.prompt?.prompt ?? '', () =>
    Object.fromEntries(Object.entries(variablesOf(call)).filter(([name]) => !name.startsWith('secret__'))),
  );
  return [prompt, ...contextOf(call)].filter((part) => part !== '').join('\n\n');
}

/** What the client told beside the conversation (gaps A.9: `contextual_update`); of several under one id the last counts. */
function contextOf({ socket }: Call): string[] {
  const updates = socket?.contextualUpdates ?? [];
  return updates
    .filter(({ contextId }, index) => {
      return contextId === null || updates.findLastIndex((other) => other.contextId === contextId) === index;
    })
    .map(({ text }) => `Context: ${text}`);
}
