// Runs a command with another version of Node.js: node scripts/with-node.mjs 24 npm test
import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { installNode } from './nodes.mjs'

const [version, command, ...args] = process.argv.slice(2)
const PATH = [installNode(version), process.env.PATH].join(delimiter)
const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, PATH } })
process.exit(status ?? 1)
