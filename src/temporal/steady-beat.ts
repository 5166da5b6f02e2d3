import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';

/**
 * Heartbeats for every activity that has a heartbeat timeout and sends none itself, as long as its process lives: Temporal gives the
 * task of a dead or standing process to another long before its time is up. Not for work that may get stuck: it would not be noticed.
 */
export function beatWhileRunning(context: Context): ActivityInterceptors {
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined) return {};
  return {
    inbound: {
      execute: async (input, next) => {
        const timer = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / 4);
        try {
          return await next(input);
        } finally {
          clearInterval(timer);
        }
      },
    },
  };
}
