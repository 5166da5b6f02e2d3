import { isFull, seedFactor } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(1, (isFull ? 35 : 25) * seedFactor, 'sqlite');
