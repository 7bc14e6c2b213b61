//===- ParseDevices.cpp - parser of multi-device annotations --------------===//

#include "passes/1-import/onnx/parse/ModelParser.h"

using namespace pcc::onnx;

void ModelParser::deviceConfiguration(std::string_view message,
                                      DeviceConfiguration &configuration) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      configuration.name = wire.bytes();
    else if (wire.field() == 2)
      configuration.numDevices = static_cast<int32_t>(wire.integer());
    else if (wire.field() == 3)
      configuration.devices.push_back(wire.bytes());
  }
}

void ModelParser::nodeDeviceConfiguration(
    std::string_view message, NodeDeviceConfiguration &configuration) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      configuration.configurationId = wire.bytes();
    else if (wire.field() == 2)
      append(wire, configuration.shardingSpecs, &ModelParser::shardingSpec);
    else if (wire.field() == 3)
      configuration.pipelineStage = static_cast<int32_t>(wire.integer());
  }
}

void ModelParser::shardingSpec(std::string_view message, ShardingSpec &spec) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      spec.tensorName = wire.bytes();
    else if (wire.field() == 2)
      wire.appendIntegers(spec.devices);
    else if (wire.field() == 3)
      append(wire, spec.groups, &ModelParser::deviceGroup);
    else if (wire.field() == 4)
      append(wire, spec.shardedDims, &ModelParser::shardedDim);
  }
}

void ModelParser::shardedDim(std::string_view message, ShardedDim &dim) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      dim.axis = wire.integer();
    else if (wire.field() == 2)
      append(wire, dim.simpleShardings, &ModelParser::simpleShardedDim);
  }
}

void ModelParser::simpleShardedDim(std::string_view message,
                                   SimpleShardedDim &dim) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      dim.dimValue = wire.integer();
    else if (wire.field() == 2)
      dim.dimParam = wire.bytes();
    else if (wire.field() == 3)
      dim.numShards = wire.integer();
  }
}

void ModelParser::deviceGroup(std::string_view message, DeviceGroup &group) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      group.key = wire.integer();
    else if (wire.field() == 2)
      wire.appendIntegers(group.devices);
  }
}
