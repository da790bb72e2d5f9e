/* What the files of the extension for captures share: the types that module.c adds. */
#ifndef KWIRE_CAPTURE_H
#define KWIRE_CAPTURE_H

#include "../../codec/native/shared.h"

extern PyType_Spec flow_encoder_spec, decoder_spec;

#endif
