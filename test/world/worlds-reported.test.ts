import { isFull, seedsFrom } from '../support/depth.ts';
import { testReportedWorlds } from './worlds-suite.ts';

// Each world once, with one service or the other.
testReportedWorlds('batch-calling', seedsFrom(1, isFull ? 35 : 18));
testReportedWorlds('campaigns', seedsFrom(isFull ? 1 : 19, isFull ? 35 : 17));
